// Which models are trained, and in what order: the quick ones first, one of each kind, then further settings drawn at random. The list
// follows from the seed and the data alone; time decides how far it is gone along.

import { plainPreset, presetNamed, specOf, trainedOn } from '../../model/presets.ts';
import { sequentialWords } from '../../optim/random.ts';
import type { PreparedData } from '../../protocol/data.ts';
import type { RunConfig } from '../../protocol/runs.ts';
import { usualTraining } from '../../settings/network.ts';
import { defaultsOf } from '../../settings/values.ts';
import { boostedFields, declaration as boosted } from '../boosted/declaration.ts';
import { firstKinds, kindTitles, readsTextsAlone, type FirstKind } from '../declared/first-kinds.ts';
import { configWith } from '../declared/registry.ts';
import { configOfChosen } from '../declared/searched-trial.ts';
import { declaration as extra } from '../extra/declaration.ts';
import { declaration as forest } from '../forest/declaration.ts';
import { extraFields, forestFields } from '../declared/forest-fields.ts';
import { declaration as linear, linearFields } from '../linear/declaration.ts';
import { networkConfig } from '../network/declaration.ts';
import type { ChosenMember } from '../declared/chosen-members.ts';

/** A model to be trained on each fold. */
export interface Candidate {
  readonly title: string;
  /** Settings for a fold, from 0. */
  readonly config: (fold: number) => RunConfig;
}

/** What candidates are made for. */
export interface PlannedFor {
  readonly common: Omit<RunConfig, 'learner'>;
  readonly data: Pick<PreparedData, 'task' | 'output' | 'input'>;
  /** Training rows of a fold. */
  readonly rows: number;
  /** Without them: those of every kind. */
  readonly chosen?: readonly ChosenMember[] | null;
}

/** Rows of a fold up to which five of RealMLP are a matter of seconds. */
const fewRows = 2_000;
/** Models in all, at most. */
const most = 200;
const stream = 4100;

type About = ReturnType<typeof trainedOn>;
type Drawn = (low: number, high: number) => number;

/** The candidates in their order: those that were chosen, or those of every kind. */
export function* candidates({ common, data, rows, chosen }: PlannedFor): Generator<Candidate, void, void> {
  if (chosen) {
    for (const { title, learner, settings } of chosen) {
      const config = configOfChosen(learner, common, settings, { data, rows });
      yield { title, config: () => config };
    }
    return;
  }
  const classes = data.output.kind === 'classes' ? data.output.classes.length : 0;
  const about = trainedOn(rows, data.task, { classes });
  const { columns, texts = [] } = data.input.kind === 'columns' ? data.input : { columns: [] };
  const start = starting(common, about, { columns: columns.length, texts: texts.map(({ name }) => name) });
  const of = { columns: columns.length, texts: texts.length };
  for (const kind of firstKinds(of)) yield first(start, kind, plainPreset(rows, classes).name);
  if (readsTextsAlone(of)) return;
  for (let draw = 1; draw <= most; draw++) {
    const next = sequentialWords(common.seed, stream, draw);
    yield drawn(start, draw, (low, high) => low + (next() / 2 ** 32) * (high - low));
    // The slowest kind comes once the quick ones have had their turns.
    if (draw === (rows < fewRows ? 4 : 12)) yield start.network('RealMLP', 'realmlp');
  }
}

/** The first of its kind. `preset`: of a network that is neither for texts nor for tables alone. */
function first(start: ReturnType<typeof starting>, kind: FirstKind, preset: string): Candidate {
  const title = kindTitles[kind];
  switch (kind) {
    case 'linear':
      return start.linear(title);
    case 'bag':
      return start.network(title, 'text-bag');
    case 'small':
      return start.boosted(title, { trees: 150, learningRate: 0.1, leaves: 15, patience: 20 });
    case 'network':
      return start.network(title, preset);
    case 'boosted':
      return start.boosted(title, { patience: 50 });
    case 'text':
      return start.network(title, 'text-small');
    case 'tabular':
      return start.network(title, 'tabular');
    case 'extra':
      return start.extra(title, {});
    case 'forest':
      return start.forest(title, {});
  }
}

/** Of four drawn models two are boosted trees, one is a network, one a forest of either kind. */
function drawn(start: ReturnType<typeof starting>, draw: number, between: Drawn): Candidate {
  const number = Math.ceil(draw / 4) + 1;
  switch (draw % 4) {
    case 0: {
      const settings = { nodeFraction: between(0.2, 1), minRows: Math.round(between(1, 5)) };
      return between(0, 1) < 0.5
        ? start.extra(`Extra trees ${number}`, settings)
        : start.forest(`Forest ${number}`, settings);
    }
    case 2:
      return start.network(
        `Network ${number}`,
        ['tabular', 'small', 'wide', 'medium'][Math.floor(between(0, 4))],
        draw,
      );
    default:
      return start.boosted(`Boosted trees ${Math.ceil(draw / 2) + 1}`, {
        learningRate: Number(between(0.02, 0.08).toFixed(3)),
        leaves: Math.round(2 ** between(2.5, 7)),
        minRows: Math.round(2 ** between(1, 6)),
        featureFraction: Number(between(0.4, 1).toFixed(2)),
        rowFraction: Number(between(0.5, 1).toFixed(2)),
        l2: Number((10 ** between(-2, 1.3)).toPrecision(2)),
        patience: 50,
      });
  }
}

/** What the layers of a network are chosen by: how many columns there are, and which texts. */
interface ForLayers {
  readonly columns: number;
  readonly texts: readonly string[];
}

/** What each kind starts from with this data. */
function starting(common: Omit<RunConfig, 'learner'>, about: About, of: ForLayers) {
  const texts = of.texts.map((name) => ({ name, vocabulary: 1, length: 1 }));
  const numeric = texts.length > 0 ? of.columns : 0;
  const forTrees = { trees: 100 };
  return {
    linear: (title: string): Candidate => ({
      title,
      config: () => configWith(linear, common, defaultsOf(linearFields, about)),
    }),
    boosted: (title: string, settings: object): Candidate => ({
      title,
      config: () => configWith(boosted, common, { ...defaultsOf(boostedFields, about), ...settings }),
    }),
    forest: (title: string, settings: object): Candidate => ({
      title,
      config: (fold) =>
        configWith(forest, seeded(common, fold), { ...defaultsOf(forestFields, about), ...forTrees, ...settings }),
    }),
    extra: (title: string, settings: object): Candidate => ({
      title,
      config: (fold) =>
        configWith(extra, seeded(common, fold), { ...defaultsOf(extraFields, about), ...forTrees, ...settings }),
    }),
    network: (title: string, preset: string, draw = 0): Candidate => ({
      title,
      config(fold) {
        const input = { kind: 'table', width: 0, numeric, embeddings: [], texts } as const;
        const model = specOf(presetNamed(preset)!, input);
        const training = usualTraining(trainedOn(about.rows, about.task, { model, classes: about.classes }));
        const { seed } = seeded(common, fold + 100 * draw);
        return networkConfig(common, model, { ...training, seed });
      },
    }),
  };
}

/** Models of different folds begin differently: their mean is the better for it. */
function seeded<C extends { readonly seed: number }>(common: C, fold: number): C {
  return { ...common, seed: (common.seed + 7919 * fold) % 2 ** 32 };
}
