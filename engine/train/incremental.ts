// A language model asked for what follows token by token: of each position only what the ones behind it need is kept (keys and values of
// attention), so that a token costs its own layers and one look over those before it, not all of them again. On the host, one position at
// a time: products of one row are as quick there as a device that has to be asked. D values a position, H heads of S values, G groups.

import { activate, type ActivationName } from '../../kernels/activations.ts';
import type { ResolvedLayer, ResolvedModel } from '../model/resolve.ts';
import { fittingWeight, type Weights } from './weights.ts';

type Vector = Float64Array;

/** What a layer makes of one position: its inputs there, the token, and its place in the sequence. */
type Step = (inputs: readonly Vector[], token: number, place: number) => Vector;
/** Makes the step of a layer; null where it does something that one position cannot tell, or that has no step here. */
type Stepped = (layer: ResolvedLayer, tensor: (name: string) => Float32Array) => Step | null;

/** y [out] = x [in] · w [in,out] + bias [out]. */
function product(x: Vector, w: Float32Array, bias: Float32Array | null, width: number): Vector {
  const y = bias ? Float64Array.from(bias) : new Float64Array(width);
  // Four inputs at a time: y is read and written a quarter as often.
  const whole = x.length - (x.length % 4);
  for (let i = 0; i < whole; i += 4) {
    const [a, b, c, d] = [x[i], x[i + 1], x[i + 2], x[i + 3]];
    const row = i * width;
    for (let j = 0; j < width; j++) {
      const at = row + j;
      y[j] += a * w[at] + b * w[at + width] + c * w[at + 2 * width] + d * w[at + 3 * width];
    }
  }
  for (let i = whole; i < x.length; i++) {
    for (let j = 0; j < width; j++) y[j] += x[i] * w[i * width + j];
  }
  return y;
}

const same: Stepped =
  () =>
  ([x]) =>
    x;

const dense: Stepped = ({ args, parameters, def }, tensor) => {
  // Members have weights of their own.
  const [{ shape }] = parameters;
  if (shape.length !== 2) return null;
  const [w, bias] = [tensor('weight'), parameters.length > 1 ? tensor('bias') : null];
  const bend = def.type === 'output' ? 'none' : (args['activation'] as ActivationName);
  const slope = Number(args['slope'] ?? 0);
  return ([x]) => {
    const y = product(x, w, bias, shape[1]);
    return bend === 'none' ? y : y.map((value) => activate(bend, value, slope));
  };
};

/** Gates stand in front of the values. */
const gatedDense: Stepped = ({ args, parameters: [{ shape }] }, tensor) => {
  const [w, bias] = [tensor('weight'), args['bias'] === true ? tensor('bias') : null];
  const [bend, slope] = [args['activation'] as ActivationName, Number(args['slope'] ?? 0)];
  const units = shape[1] / 2;
  return ([x]) => {
    const both = product(x, w, bias, 2 * units);
    const gates = both.subarray(0, units);
    return gates.map((gate, i) => activate(bend, gate, slope) * both[units + i]);
  };
};

/** Turns the first heads of a position by the angles of its place: pairs (d, d + size/2), a row of cosines and sines. */
function turn(x: Vector, heads: number, size: number, angles: Float32Array, place: number): void {
  const half = size / 2;
  for (let head = 0; head < heads; head++) {
    for (let d = 0; d < half; d++) {
      const i = head * size + d;
      const [cos, sin] = [angles[place * size + d], angles[place * size + half + d]];
      const [a, b] = [x[i], x[i + half]];
      x[i] = a * cos - b * sin;
      x[i + half] = b * cos + a * sin;
    }
  }
}

/** Keys and values of all positions so far, of which the places behind the last are of a text before; rotary keys are kept turned. */
const attention: Stepped = ({ args, inputShapes: [[length, width]] }, tensor) => {
  if (args['causal'] !== true) return null;
  const angles = args['rotary'] === true ? tensor('angles') : null;
  const heads = Number(args['heads']);
  const groups = Number(args['groups']) || heads;
  const size = width / heads;
  const packed = (heads + 2 * groups) * size;
  const scale = 1 / Math.sqrt(size);
  const bias = (name: string): Float32Array | null => (args['bias'] === true ? tensor(name) : null);
  const [inWeight, outWeight] = [tensor('in_weight'), tensor('out_weight')];
  const [inBias, outBias] = [bias('in_bias'), bias('out_bias')];
  const kept = new Float64Array(length * 2 * groups * size);
  const stride = 2 * groups * size;
  const scores = new Float64Array(length);
  return ([x], _, place) => {
    const qkv = product(x, inWeight, inBias, packed);
    if (angles) turn(qkv, heads + groups, size, angles, place);
    kept.set(qkv.subarray(heads * size), place * stride);
    const mixed = new Float64Array(width);
    for (let head = 0; head < heads; head++) {
      const group = Math.floor((head * groups) / heads) * size;
      let largest = -Infinity;
      for (let at = 0; at <= place; at++) {
        let sum = 0;
        for (let s = 0; s < size; s++) sum += qkv[head * size + s] * kept[at * stride + group + s];
        scores[at] = scale * sum;
        largest = Math.max(largest, scores[at]);
      }
      let all = 0;
      for (let at = 0; at <= place; at++) all += scores[at] = Math.exp(scores[at] - largest);
      for (let at = 0; at <= place; at++) {
        const weight = scores[at] / all;
        const values = at * stride + groups * size + group;
        for (let s = 0; s < size; s++) mixed[head * size + s] += weight * kept[values + s];
      }
    }
    return product(mixed, outWeight, outBias, width);
  };
};

/** The layers that can, by their type. A model with any other is computed whole. */
const steps: ReadonlyMap<string, Stepped> = new Map<string, Stepped>([
  [
    'token_embedding',
    ({ outputShape: [, width] }, tensor) => {
      const table = tensor('weight');
      return (_, token) => Float64Array.from(table.subarray(token * width, (token + 1) * width));
    },
  ],
  [
    'position_embedding',
    ({ args, outputShape: [, width] }, tensor) => {
      const table = tensor(args['vectors'] === 'sinusoidal' ? 'waves' : 'weight');
      const segment = Number(args['segments']) > 0 ? tensor('segment') : null;
      return ([x], _, place) => x.map((value, i) => value + table[place * width + i] + (segment?.[i] ?? 0));
    },
  ],
  [
    'layer_norm',
    ({ args }, tensor) => {
      const [weight, bias, epsilon] = [tensor('weight'), tensor('bias'), Number(args['epsilon'])];
      return ([x]) => {
        const mean = x.reduce((sum, value) => sum + value, 0) / x.length;
        const variance = x.reduce((sum, value) => sum + (value - mean) ** 2, 0) / x.length;
        const factor = 1 / Math.sqrt(variance + epsilon);
        return x.map((value, i) => (value - mean) * factor * weight[i] + bias[i]);
      };
    },
  ],
  [
    'rms_norm',
    ({ args }, tensor) => {
      const [weight, epsilon] = [tensor('weight'), Number(args['epsilon'])];
      return ([x]) => {
        const factor = 1 / Math.sqrt(x.reduce((sum, value) => sum + value * value, 0) / x.length + epsilon);
        return x.map((value, i) => value * factor * weight[i]);
      };
    },
  ],
  [
    'activation',
    ({ args }) =>
      ([x]) =>
        x.map((value) => activate(args['activation'] as ActivationName, value, Number(args['slope'] ?? 0))),
  ],
  ['add', () => (inputs) => inputs.slice(1).reduce((sum, input) => sum.map((value, i) => value + input[i]), inputs[0])],
  ['dropout', same],
  ['pool_positions', (layer, tensor) => (layer.args['pool'] === 'last' ? same(layer, tensor) : null)],
  ['attention', attention],
  ['dense', dense],
  ['gated_dense', gatedDense],
  ['output', dense],
]);

export class Incremental {
  readonly #layers: readonly { readonly step: Step; readonly inputs: readonly number[] }[];
  /** Ids whose keys and values are kept, in their places. */
  #seen: number[] = [];
  /** Positions computed so far. */
  positions = 0;

  /** Null: the model has a layer that has to see the whole. Throws InputError `model.weights`. */
  static of(model: ResolvedModel, weights: Weights): Incremental | null {
    const made: { step: Step; inputs: readonly number[] }[] = [];
    for (const layer of model.layers) {
      const tensor = (name: string): Float32Array => {
        const full = `${layer.id}.${name}`;
        const wanted = [...layer.parameters, ...layer.states].find((each) => each.name === full)!.shape;
        return fittingWeight(full, wanted, weights).data;
      };
      const step = steps.get(layer.def.type)?.(layer, tensor) ?? null;
      if (step === null) return null;
      made.push({ step, inputs: layer.inputs });
    }
    return new Incremental(made);
  }

  private constructor(layers: readonly { readonly step: Step; readonly inputs: readonly number[] }[]) {
    this.#layers = layers;
  }

  /** Logits of the token behind `ids`, of which those that begin as the ones before are not computed again. */
  following(ids: readonly number[]): Float32Array {
    let same = 0;
    while (same < ids.length - 1 && this.#seen[same] === ids[same]) same++;
    let logits: Vector = new Float64Array(0);
    for (let place = same; place < ids.length; place++) logits = this.#position(ids[place], place);
    this.#seen = [...ids];
    return Float32Array.from(logits);
  }

  #position(token: number, place: number): Vector {
    this.positions++;
    const outputs: Vector[] = [];
    const nothing = new Float64Array(0);
    for (const { step, inputs } of this.#layers) {
      outputs.push(
        step(
          inputs.map((at) => outputs[at] ?? nothing),
          token,
          place,
        ),
      );
    }
    return outputs[outputs.length - 1];
  }
}
