// Activations and their derivatives as WGSL functions on V = f32 or a vector of f32.

import { activationCodes, geluCube, geluScale, seluAlpha, seluScale } from './activations.ts';
import { float } from './gpu-wgsl.ts';

/**
 * `fn activate(x: V) -> V`, for V = f32 or a vector of f32. tanh and sigmoid are written through exp of a negative number,
 * because drivers may compute WGSL's own tanh as sinh/cosh, which overflows.
 */
export function activateFunction(code: number, slope: number): string {
  const body = activationBody(code, slope);
  return `${helperOf(code)}
fn activate(x: V) -> V {
  ${body}
}
`;
}

/** Functions that an activation or its derivative calls. */
function helperOf(code: number): string {
  if (code === activationCodes.gelu) return erfFunction;
  return code === activationCodes.cosine ? sineFunction : '';
}

function activationBody(code: number, slope: number): string {
  const { none, relu, leaky_relu, gelu, silu, tanh, sigmoid, mish, selu, cosine, log, soft_clip, relu6, gelu_tanh } =
    activationCodes;
  switch (code) {
    case none:
      return 'return x;';
    case relu:
      return 'return max(x, V(0f));';
    case leaky_relu:
      return `return select(${float(slope)} * x, x, x > V(0f));`;
    case gelu:
      return `return 0.5f * x * (1f + error_function(x * ${float(Math.SQRT1_2)}));`;
    case silu:
      return `let e = exp(-abs(x));
  return x * select(e, V(1f), x >= V(0f)) / (1f + e);`;
    case tanh:
      return `let e = exp(-2f * abs(x));
  return sign(x) * (1f - e) / (1f + e);`;
    case sigmoid:
      return `let e = exp(-abs(x));
  return select(e, V(1f), x >= V(0f)) / (1f + e);`;
    case mish:
      return `${mishNumbers}
  return x * (n / (n + 2f));`;
    case selu:
      return `return select(${float(seluScale * seluAlpha)} * (exp(min(x, V(0f))) - 1f), ${float(seluScale)} * x, x > V(0f));`;
    case cosine:
      return 'return sine_of_turns(0.25f - abs(x - round(x)));';
    case log:
      return 'return log(max(x, V(1e-30f)));';
    case soft_clip:
      return `return x / sqrt(1f + (${float(slope)} * x) * (${float(slope)} * x));`;
    case relu6:
      return 'return clamp(x, V(0f), V(6f));';
    case gelu_tanh:
      return `${geluGate}
  return x * s;`;
    default:
      throw new RangeError(`no activation has code ${code}`);
  }
}

/** e^x, and n with tanh ln(1 + e^x) = n/(n + 2). */
const mishNumbers = `let e = exp(min(x, V(20f)));
  let n = e * (e + 2f);`;

/** σ(2u) as `s`, u = √(2/π)(x + 0.044715x³). */
const geluGate = `let u = ${float(2 * geluScale)} * x * (1f + ${float(geluCube)} * x * x);
  let e = exp(-abs(u));
  let s = select(e, V(1f), u >= V(0f)) / (1f + e);`;

/** `fn derivative(x: V) -> V`: f′ from the input, or from the output where `fromOutput` holds. */
export function derivativeFunction(code: number, slope: number, fromOutput: boolean): string {
  return `${helperOf(code)}
fn derivative(x: V) -> V {
  ${fromOutput ? derivativeOfOutputBody(code, slope) : derivativeBody(code, slope)}
}
`;
}

function derivativeOfOutputBody(code: number, slope: number): string {
  const { none, relu, leaky_relu, relu6, tanh, sigmoid, selu } = activationCodes;
  switch (code) {
    case none:
      return 'return V(1f);';
    case relu:
      return 'return select(V(0f), V(1f), x > V(0f));';
    case relu6:
      return 'return select(V(0f), V(1f), (x > V(0f)) & (x < V(6f)));';
    case leaky_relu:
      return `return select(V(${float(slope)}), V(1f), x > V(0f));`;
    case tanh:
      return 'return 1f - x * x;';
    case sigmoid:
      return 'return x * (1f - x);';
    case selu:
      return `return select(x + ${float(seluScale * seluAlpha)}, V(${float(seluScale)}), x > V(0f));`;
    default:
      throw new RangeError(`the derivative of activation ${code} is not a function of its output`);
  }
}

function derivativeBody(code: number, slope: number): string {
  const { gelu, silu, tanh, sigmoid, mish, selu, cosine, log, soft_clip, gelu_tanh } = activationCodes;
  const logistic = `let e = exp(-abs(x));
  let s = select(e, V(1f), x >= V(0f)) / (1f + e);`;
  switch (code) {
    case gelu:
      return `let density = exp(-0.5f * x * x) * ${float(1 / Math.sqrt(2 * Math.PI))};
  return 0.5f * (1f + error_function(x * ${float(Math.SQRT1_2)})) + x * density;`;
    case silu:
      return `${logistic}
  return s * (1f + x * (1f - s));`;
    case tanh:
      return `let e = exp(-2f * abs(x));
  let t = (1f - e) / (1f + e);
  return 1f - t * t;`;
    case sigmoid:
      return `${logistic}
  return s * (1f - s);`;
    case mish:
      return `${mishNumbers}
  let below = n + 2f;
  return n / below + x * (e / (e + 1f)) * (4f * (n + 1f) / (below * below));`;
    case selu:
      return `return select(${float(seluScale * seluAlpha)} * exp(min(x, V(0f))), V(${float(seluScale)}), x > V(0f));`;
    case cosine:
      return `return ${float(-2 * Math.PI)} * sine_of_turns(x);`;
    case log:
      return 'return select(V(0f), 1f / x, x > V(1e-30f));';
    case soft_clip:
      return `let square = 1f + (${float(slope)} * x) * (${float(slope)} * x);
  return 1f / (square * sqrt(square));`;
    case gelu_tanh:
      return `${geluGate}
  return s + x * (e / ((1f + e) * (1f + e))) * ${float(2 * geluScale)} * (1f + ${float(3 * geluCube)} * x * x);`;
    default:
      return derivativeOfOutputBody(code, slope);
  }
}

/** sin 2πx: WGSL's own sine may be off by 2⁻¹¹. */
const sineFunction = `
fn sine_of_turns(x: V) -> V {
  let turn = x - round(x);
  let size = abs(turn);
  let z = ${float(2 * Math.PI)} * sign(turn) * min(size, 0.5f - size);
  let square = z * z;
  var p = V(${float(-1 / 39916800)});
  p = p * square + ${float(1 / 362880)};
  p = p * square + ${float(-1 / 5040)};
  p = p * square + ${float(1 / 120)};
  p = p * square + ${float(-1 / 6)};
  return p * square * z + z;
}
`;

/**
 * erf = 1 − exp(−x²)·t·P(t), t = 1/(1 + 0.4x) for x ≥ 0: the form of Abramowitz & Stegun 7.1.26 with a polynomial of
 * degree 7 fitted here; at most 4e-10 off in exact arithmetic, 3e-7 in float32.
 */
const erfCoefficients = [
  0.22583408653736115, 0.2291467934846878, 0.16460856795310974, 0.3633551299571991, -0.32725757360458374,
  0.6582618355751038, -0.38788166642189026, 0.07393284887075424,
];
const erfFunction = `
fn error_function(x: V) -> V {
  let size = abs(x);
  let t = 1f / (1f + 0.4f * size);
  let series = ${erfCoefficients.reduceRight((inner, c) => (inner ? `(${float(c)} + t * ${inner})` : float(c)), '')};
  return sign(x) * (1f - t * series * exp(-size * size));
}
`;
