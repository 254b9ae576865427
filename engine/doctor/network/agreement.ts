// Do the device's gradients agree with the float64 reference? The same plan on both, on a few rows. The reference is slow: pictures are
// made smaller where that takes too long, which leaves the layers and their kernels what they are. B rows.

import type { Backend } from '../../backends/backend.ts';
import { sizeOf } from '../../graph/op.ts';
import type { ResolvedModel } from '../../model/resolve.ts';
import type { PreparedData } from '../../protocol/data.ts';
import type { CheckFinding } from '../../protocol/checking.ts';
import { figure, NotDone, type Check, type Pace, type SampledRows } from '../check.ts';
import { asRows, pick } from '../sample.ts';
import { Probe } from './probe.ts';
import { modelOf, trainingOf, weightsOfClasses, type Subject } from './subject.ts';

/** Of the largest relative difference of a layer, in its norm: float32 makes some 10⁻⁶ of it. */
export const agreementLimits = { look: 1e-4, fix: 1e-2 } as const;
/** Floating-point operations of a step that the reference may be asked for: a second or two of it. */
const mostFlops = 6e7;
const rowsCompared = 8;
/** Gradients of single weights that are drawn. */
const drawn = 240;

export function agreementCheck(subject: Subject, reference: () => Backend): Check {
  return { finds: ['agreement'], seconds: 2, run: async (pace) => [await compare(subject, reference(), pace)] };
}

async function compare(subject: Subject, exact: Backend, pace: Pace): Promise<CheckFinding> {
  const small = smallEnough(subject);
  const { sample, batch, words } = small;
  const { config, backend } = subject;
  const training = trainingOf(config);
  const classWeights = weightsOfClasses({ ...subject, ...small });
  const options = { model: small.model, training, sample, batch, watched: [], classWeights };
  const probes = [await Probe.open({ ...options, backend }), await Probe.open({ ...options, backend: exact })] as const;
  try {
    for (const probe of probes) {
      await pace.breathe();
      await probe.run(0);
    }
    let worst = { name: '', difference: 0 };
    const [sizes, differences]: [number[], number[]] = [[], []];
    const total = small.model.parameters.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
    const every = Math.max(1, Math.floor(total / drawn));
    for (const [layer, names] of byLayer(small.model)) {
      const own = joined(await Promise.all(names.map((name) => probes[0].gradient(name))));
      const reference = joined(await Promise.all(names.map((name) => probes[1].gradient(name))));
      const norm = Math.sqrt(sumOfSquares(reference));
      const apart = own.map((value, i) => value - reference[i]);
      for (let i = sizes.length % every; i < reference.length; i += every) {
        if (reference[i] === 0) continue;
        sizes.push(Math.abs(reference[i]));
        differences.push(Math.abs(apart[i]) / (Math.abs(reference[i]) + norm / Math.sqrt(reference.length)));
      }
      const rest = Math.sqrt(sumOfSquares(apart));
      const difference = norm === 0 ? rest : rest / norm;
      // What is no number is worse than any, whichever layers follow.
      if (difference > worst.difference || Number.isNaN(difference)) worst = { name: layer, difference };
    }
    return judgeAgreement(worst, { sizes, differences }, `${backend.device.kind.toUpperCase()} against float64`, words);
  } finally {
    for (const probe of probes) probe.close();
    await exact.close();
  }
}

/** Layer by layer: the gradient of a bias before a batch norm is 0, and alone would be compared with nothing but rounding. */
function byLayer({ parameters }: ResolvedModel): ReadonlyMap<string, readonly string[]> {
  const layers = new Map<string, string[]>();
  for (const { name } of parameters) {
    const layer = name.slice(0, name.lastIndexOf('.'));
    layers.set(layer, [...(layers.get(layer) ?? []), name]);
  }
  return layers;
}

function joined(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function sumOfSquares(values: Float32Array): number {
  return values.reduce((sum, value) => sum + value * value, 0);
}

function judgeAgreement(
  worst: { readonly name: string; readonly difference: number },
  drawn: { readonly sizes: readonly number[]; readonly differences: readonly number[] },
  note: string,
  words: string,
): CheckFinding {
  const kind =
    worst.difference <= agreementLimits.look ? 'fine' : worst.difference <= agreementLimits.fix ? 'look' : 'fix';
  const allowed = figure(agreementLimits.look);
  return {
    id: 'agreement',
    kind,
    title: kind === 'fine' ? 'Gradients agree with float64' : 'Gradients differ from float64',
    figure: figure(worst.difference),
    text:
      kind === 'fine'
        ? `The largest relative difference of a layer, ${words}.`
        : `Those of layer ${worst.name}, ${words}; ${allowed} is allowed. ${kind === 'fix' ? 'This device does not compute what it should: train on another one.' : 'Rounding may do it where a layer sums up very much.'}`,
    drawing: {
      kind: 'agreement',
      note,
      ...drawn,
      limits: [{ value: agreementLimits.look, words: `allowed ${allowed}` }],
    },
  };
}

/** The rows, of smaller pictures if need be, that the reference can be asked for. */
function smallEnough(subject: Subject): {
  readonly model: Subject['model'];
  readonly data: PreparedData;
  readonly sample: SampledRows;
  readonly batch: number;
  readonly words: string;
} {
  const { config, sample } = subject;
  const { train } = sample.data.counts;
  if (train < 2) throw new NotDone(`Needs 2 training rows; there ${train === 1 ? 'is 1' : `are ${train}`}.`);
  let data = sample.data;
  let rows = sample;
  for (let shrunk = 1; ; shrunk *= 2) {
    const model = modelOf(config, data);
    const flops =
      3 *
      model.layers.reduce((sum, { def, inputShapes, outputShape, args }) => {
        return sum + def.flops(inputShapes, outputShape, args);
      }, 0);
    const batch = Math.min(train, rowsCompared, Math.max(2, Math.floor(mostFlops / flops)));
    if (batch * flops <= 2 * mostFlops) {
      const first = Uint32Array.from({ length: batch }, (_, row) => row);
      const size = data.input.kind === 'image' && shrunk > 1 ? ` of ${data.input.height} × ${data.input.width}` : '';
      const words = `on ${batch} ${data.input.kind === 'image' ? 'pictures' : 'rows'}${size}`;
      return { model, data, sample: pick(rows, first), batch, words };
    }
    const half = halved(rows);
    if (half === null)
      throw new NotDone(`Needs ${figure((batch * flops) / 1e9)} GFLOP in float64: too slow for a check.`);
    try {
      modelOf(config, half.data);
    } catch {
      throw new NotDone(
        `Needs ${figure((batch * flops) / 1e9)} GFLOP in float64, and smaller pictures do not fit its layers.`,
      );
    }
    [data, rows] = [half.data, half];
  }
}

/** The middle of each picture of a few, half as high and wide; null: these are no pictures, or they are too small. */
function halved({ data, shard }: SampledRows): SampledRows | null {
  const { input } = data;
  if (input.kind !== 'image' || Math.min(input.height, input.width) < 8) return null;
  const { channels, height, width } = input;
  const [h, w] = [height >> 1, width >> 1];
  const rows = Math.min(rowsCompared, data.counts.train);
  const x = new Uint8Array(rows * channels * h * w);
  for (let plane = 0; plane < rows * channels; plane++) {
    for (let row = 0; row < h; row++) {
      const from = (plane * height + row + (h >> 1)) * width + (w >> 1);
      x.set(shard.x.subarray(from, from + w) as Uint8Array, (plane * h + row) * w);
    }
  }
  const y = shard.y.slice(0, rows * data.targets);
  const smaller = { ...data, input: { ...input, height: h, width: w }, width: channels * h * w };
  return asRows(smaller, { rows, x, y }, { train: rows, validation: 0 });
}
