// The models everyone knows, ready to be forecast by their names, and the program's own presets.

import { resnet18, resnet50, type ImageInput } from '../../model/image-presets.ts';
import { presetNamed, presets, specOf, defaultTraining } from '../../model/presets.ts';
import type { InputSpec, ModelSpec, OutputSpec, TrainingSpec } from '../../model/spec.ts';
import { InputError } from '../../protocol/errors.ts';
import type { ModelCosts } from './costs.ts';
import { costsOfModel, type ModelAtHand } from './from-model.ts';
import { costsOfTransformer, transformerSpecs } from './transformers.ts';

type TransformerName = keyof typeof transformerSpecs;

/** Rows of an epoch by default: ImageNet's training images, SQuAD's questions, 10⁹ and 3 · 10¹¹ tokens. */
const usualRows: Readonly<Record<string, number>> = {
  resnet18: 1_281_167,
  resnet50: 1_281_167,
  'bert-base': 87_599,
  'bert-large': 87_599,
  gpt2: 976_563,
  gpt3: 146_484_375,
};
const otherRows = 10_000;
const usualSequence: Readonly<Record<TransformerName, number>> = {
  'bert-base': 512,
  'bert-large': 512,
  gpt2: 1024,
  gpt3: 2048,
};

const imagenet: ImageInput = { kind: 'image', channels: 3, height: 224, width: 224 };
const nets: Readonly<Record<string, (input: ImageInput) => ModelSpec>> = { resnet18, resnet50 };

/** Names a forecast takes. */
export const familiarNames: readonly string[] = ['resnet50', 'resnet18', ...Object.keys(transformerSpecs)];
export const knownNames: readonly string[] = [
  ...familiarNames,
  ...presets.map(({ name }) => name).filter((name) => !familiarNames.includes(name)),
];

/** What a forecast is asked for; what is missing is as usual for the model. */
export interface Asked {
  readonly batch?: number;
  /** `3x224x224` as [3, 224, 224], the width of a table as [20], tokens of a sequence as [512]. */
  readonly input?: readonly number[];
  readonly classes?: number;
  readonly optimizer?: TrainingSpec['optimizer']['name'];
  readonly rows?: number;
}

/** A model to forecast: its costs at any batch and, where this program builds it, the model itself. */
export interface Subject {
  readonly name: string;
  readonly batch: number;
  readonly rows: number;
  readonly optimizer: TrainingSpec['optimizer']['name'];
  readonly costs: (batch: number) => ModelCosts;
  /** Absent for transformers. */
  readonly model?: ModelAtHand;
}

const usualBatch = 32;

/** Throws InputError for an unknown name or an input that does not fit the model. */
export function subjectNamed(name: string, asked: Asked): Subject {
  if (Object.hasOwn(transformerSpecs, name)) return transformerSubject(name as TransformerName, asked);
  const preset = presetNamed(name);
  const image = Object.hasOwn(nets, name) || preset?.input === 'image';
  if (!image && !preset) {
    throw new InputError('usage.model', `There is no model “${name}”.`, `Models: ${knownNames.join(', ')}; or a file.`);
  }
  const familiar = Object.hasOwn(nets, name);
  const usual = familiar ? imagenet : { ...imagenet, height: 32, width: 32 };
  const input = image
    ? imageInput(name, asked.input, usual)
    : preset!.input === 'text'
      ? textInput(name, asked.input)
      : tableInput(name, asked.input);
  const spec = image && familiar ? nets[name](input as ImageInput) : specOf(preset!, input);
  const classes = asked.classes ?? (familiar ? 1000 : 10);
  return subjectOf(name, spec, input, classOutput(classes), { rows: usualRows[name] ?? otherRows, ...asked });
}

/** A model of one's own. */
export function subjectOf(
  name: string,
  spec: ModelSpec,
  input: InputSpec,
  output: OutputSpec,
  asked: Asked,
  training?: TrainingSpec,
): Subject {
  const rows = asked.rows ?? otherRows;
  const base =
    training ?? defaultTraining(rows, output.kind === 'classes' ? 'classification' : 'regression', input, spec);
  const batch = asked.batch ?? (training ? base.batch : usualBatch);
  const optimizer = asked.optimizer ?? (training ? base.optimizer.name : 'adam');
  const settings: TrainingSpec = {
    ...base,
    batch,
    accumulate: 1,
    optimizer: { ...base.optimizer, name: optimizer, momentum: optimizer === 'sgd' ? 0.9 : base.optimizer.momentum },
  };
  const model: ModelAtHand = { name, spec, input, output, training: settings };
  const costs = remembered((size) => costsOfModel({ ...model, training: { ...settings, batch: size } }));
  return { name, batch, rows, optimizer, costs, model };
}

/** A forecast asks for the costs at a few batches again and again, and planning a deep model takes a tenth of a second. */
function remembered(plan: Subject['costs']): Subject['costs'] {
  const known = new Map<number, ModelCosts>();
  return (batch) => {
    const costs = known.get(batch) ?? plan(batch);
    known.set(batch, costs);
    return costs;
  };
}

export const classOutput = (classes: number): OutputSpec => ({
  kind: 'classes',
  classes: Array.from({ length: classes }, (_, k) => String(k)),
});

function transformerSubject(name: TransformerName, asked: Asked): Subject {
  const spec = transformerSpecs[name];
  const [sequence, ...more] = asked.input ?? [usualSequence[name]];
  if (more.length > 0 || sequence > spec.positions) {
    throw new InputError(
      'usage.input',
      `${name} takes one number as its input, tokens a sequence, up to ${spec.positions}.`,
      `Such as --input ${usualSequence[name]}.`,
    );
  }
  return {
    name,
    batch: asked.batch ?? usualBatch,
    rows: asked.rows ?? usualRows[name],
    optimizer: asked.optimizer ?? 'adam',
    costs: (batch) => costsOfTransformer(name, spec, sequence, batch),
  };
}

function imageInput(name: string, sizes: readonly number[] | undefined, usual: ImageInput): ImageInput {
  if (!sizes) return usual;
  if (sizes.length === 3) return { kind: 'image', channels: sizes[0], height: sizes[1], width: sizes[2] };
  throw new InputError('usage.input', `${name} takes images.`, 'Give channels, height and width: --input 3x224x224.');
}

function tableInput(name: string, sizes: readonly number[] = [20]): InputSpec {
  if (sizes.length === 1) return { kind: 'table', width: sizes[0], numeric: sizes[0], embeddings: [] };
  throw new InputError('usage.input', `${name} takes the rows of a table.`, 'Give its width: --input 20.');
}

/** Tokens of most vocabularies that are learned from much text. */
const usualVocabulary = 30_522;

function textInput(name: string, sizes: readonly number[] = [128]): InputSpec {
  const [length] = sizes;
  if (sizes.length === 1) {
    const texts = [{ name: 'text', vocabulary: usualVocabulary + 1, length }];
    return { kind: 'table', width: length, numeric: 0, embeddings: [], texts };
  }
  throw new InputError('usage.input', `${name} takes texts.`, 'Give their tokens: --input 128.');
}
