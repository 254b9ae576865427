// What goes on inside a network at its first weights, layer by layer: gradients of the weights, the spread of what units give, units that
// never answer, and the loss. Quantiles of single weights and units, so that a layer is told by more than its mean.

import type { LayerSpread } from '../../protocol/checking.ts';
import type { Weights } from '../../train/weights.ts';
import { NotDone, type Pace } from '../check.ts';
import { Probe } from './probe.ts';
import { judgedLayers, trainingOf, weightsOfClasses, type JudgedLayer, type Subject } from './subject.ts';

/** Rows of a batch that is looked at: activations of all layers are kept. */
const largestBatch = 64;
const mostRows = 2_048;
/** A unit that gives the same to every row, up to rounding: a share of what it gives. */
const same = 2e-7;

export interface Inside {
  readonly layers: readonly JudgedLayer[];
  /** Of the weights of each layer that got any, from the first batch. */
  readonly gradients: readonly LayerSpread[];
  /** Root mean square of these. */
  readonly sizes: readonly number[];
  /** Standard deviation over the rows, of the units of each layer. */
  readonly activations: readonly LayerSpread[];
  /** Units of each layer that gave the same to every row. */
  readonly silent: readonly { readonly units: number; readonly silent: number }[];
  readonly loss: number;
  readonly rows: number;
  /** Root mean square of the weights of the layer with the smallest gradients. */
  readonly weightSize: number;
}

export async function lookInside(
  subject: Subject,
  { milliseconds, weights }: { readonly milliseconds: number; readonly weights?: Weights },
  pace: Pace,
): Promise<Inside> {
  const { sample, model, backend, config } = subject;
  const { train } = sample.data.counts;
  const batch = Math.min(largestBatch, Math.max(2, config.training.batch), train);
  if (batch < 2) throw new NotDone(`Needs 2 training rows; there ${train === 1 ? 'is 1' : `are ${train}`}.`);
  const layers = judgedLayers(model);
  const training = trainingOf(config);
  const watched = [...new Set(layers.map(({ settled }) => settled))];
  const classWeights = weightsOfClasses(subject);
  const probe = await Probe.open({ backend, model, training, sample, batch, watched, classWeights, weights });
  try {
    const moments = layers.map(({ settled }) => new UnitMoments(model.layers[settled].outputShape));
    const [gradients, sizes]: [LayerSpread[], number[]] = [[], []];
    const start = pace.clock();
    let [loss, done] = [0, 0];
    const most = Math.min(probe.batches, Math.ceil(mostRows / batch));
    for (let number = 0; number < most && (number === 0 || pace.clock() - start < milliseconds); number++) {
      await pace.breathe();
      loss += await probe.run(number);
      done++;
      for (const [i, { settled, name, weight }] of layers.entries()) {
        moments[i].add(await probe.kept(settled), batch);
        if (number > 0) continue;
        const got = gotAny(await probe.gradient(weight));
        gradients.push(spreadOf(name, got));
        sizes.push(rootMeanSquare(got));
      }
    }
    return {
      layers,
      gradients,
      sizes,
      activations: layers.map(({ name }, i) => spreadOf(name, moments[i].deviations())),
      silent: moments.map((moment) => moment.silent()),
      loss: loss / done,
      rows: done * batch,
      weightSize: rootMeanSquare(
        await probe.parameter(layers[sizes.indexOf(Math.min(...sizes))]?.weight ?? layers[0].weight),
      ),
    };
  } finally {
    probe.close();
  }
}

/**
 * Sizes of what is not 0: categories that are absent from the batch and units that are silent in it get nothing, however sound the layer
 * is. One 0 where there is nothing else.
 */
function gotAny(gradient: Float32Array): Float32Array {
  const got = gradient.map(Math.abs).filter((size) => size !== 0);
  return got.length > 0 ? got : new Float32Array(1);
}

const rootMeanSquare = (values: Float32Array): number =>
  Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);

/** Sums over rows and places of what each unit (a channel of pictures) gives. */
class UnitMoments {
  readonly #units: number;
  readonly #places: number;
  readonly #sum: Float64Array;
  readonly #squares: Float64Array;
  readonly #low: Float64Array;
  readonly #high: Float64Array;
  #count = 0;

  constructor([units, ...places]: readonly number[]) {
    this.#units = units;
    this.#places = places.reduce((product, size) => product * size, 1);
    this.#sum = new Float64Array(units);
    this.#squares = new Float64Array(units);
    this.#low = new Float64Array(units).fill(Infinity);
    this.#high = new Float64Array(units).fill(-Infinity);
  }

  add(values: Float32Array, rows: number): void {
    for (let row = 0, i = 0; row < rows; row++) {
      for (let unit = 0; unit < this.#units; unit++) {
        for (let place = 0; place < this.#places; place++, i++) {
          const value = values[i];
          this.#sum[unit] += value;
          this.#squares[unit] += value * value;
          if (value < this.#low[unit]) this.#low[unit] = value;
          if (value > this.#high[unit]) this.#high[unit] = value;
        }
      }
    }
    this.#count += rows * this.#places;
  }

  deviations(): Float64Array {
    return this.#squares.map((square, unit) => {
      const mean = this.#sum[unit] / this.#count;
      return Math.sqrt(Math.max(0, square / this.#count - mean * mean));
    });
  }

  silent(): { readonly units: number; readonly silent: number } {
    const silent = this.#high.reduce((sum, high, unit) => {
      const low = this.#low[unit];
      return sum + (high - low > same * Math.max(Math.abs(high), Math.abs(low)) ? 0 : 1);
    }, 0);
    return { units: this.#units, silent };
  }
}

/** Quantiles of 10, 50 and 90 %. */
export function spreadOf(name: string, values: Float32Array | Float64Array): LayerSpread {
  const sorted = values.toSorted();
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? NaN;
  return { name, low: at(0.1), median: at(0.5), high: at(0.9) };
}
