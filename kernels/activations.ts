// Codes and float64 definitions of the activations, shared by references, graphs and layer definitions.

export const activationCodes = {
  none: 0,
  relu: 1,
  leaky_relu: 2,
  gelu: 3,
  silu: 4,
  tanh: 5,
  sigmoid: 6,
  mish: 7,
  selu: 8,
  cosine: 9,
  log: 10,
  soft_clip: 11,
  relu6: 12,
  gelu_tanh: 13,
} as const;
export type ActivationName = keyof typeof activationCodes;

const names = Object.keys(activationCodes) as ActivationName[];

export function activationName(code: number): ActivationName {
  const name = names[code];
  if (!name) throw new RangeError(`no activation has code ${code}`);
  return name;
}

/** Activations whose derivative is a function of their own output, so that the input need not be kept. */
export const derivativeFromOutput: ReadonlySet<ActivationName> = new Set([
  'relu',
  'leaky_relu',
  'tanh',
  'sigmoid',
  'selu',
  'relu6',
]);

/** √(2/π) and the weight of the cube in `gelu_tanh`: Hendrycks & Gimpel 2016, as GPT-2 has it. */
export const geluScale = 0.7978845608028654;
export const geluCube = 0.044715;

/** SELU's scale and its limit at −∞ over that scale: Klambauer et al. 2017. */
export const seluScale = 1.0507009873554805;
export const seluAlpha = 1.6732632423543772;

/** Least number whose logarithm `log` takes. */
export const leastOfLog = 1e-30;

/** erf, by its Maclaurin series below 3 and 1 − erfc by a continued fraction above; full float64 precision. */
export function erf(x: number): number {
  const a = Math.abs(x);
  if (a > 6) return Math.sign(x);
  if (a < 3) {
    let term = a;
    let sum = a;
    for (let n = 1; Math.abs(term) > 1e-17 * Math.abs(sum) && n < 200; n++) {
      term *= (-a * a) / n;
      sum += term / (2 * n + 1);
    }
    return (Math.sign(x) * 2 * sum) / Math.sqrt(Math.PI);
  }
  let fraction = 0;
  for (let n = 60; n > 0; n--) fraction = n / 2 / (a + fraction);
  return Math.sign(x) * (1 - Math.exp(-a * a) / Math.sqrt(Math.PI) / (a + fraction));
}

const sigmoid = (x: number): number => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));

const softplus = (x: number): number => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

/**
 * f(x) in float64. mish: Misra 2019; cosine: cos 2πx; log: ln max(x, 1e-30); soft_clip: x/√(1 + (slope·x)²), which stays below 1/slope;
 * relu6: min(max(x, 0), 6); gelu_tanh: x/2·(1 + tanh √(2/π)(x + 0.044715x³)).
 * `slope` is also the negative slope of leaky_relu.
 */
export function activate(name: ActivationName, x: number, slope = 0.01): number {
  switch (name) {
    case 'none':
      return x;
    case 'relu':
      return Math.max(x, 0);
    case 'leaky_relu':
      return x > 0 ? x : slope * x;
    case 'gelu':
      return 0.5 * x * (1 + erf(x / Math.SQRT2));
    case 'silu':
      return x * sigmoid(x);
    case 'tanh':
      return Math.tanh(x);
    case 'sigmoid':
      return sigmoid(x);
    case 'mish':
      return x * Math.tanh(softplus(x));
    case 'selu':
      return seluScale * (x > 0 ? x : seluAlpha * Math.expm1(x));
    case 'cosine':
      return Math.cos(2 * Math.PI * x);
    case 'log':
      return Math.log(Math.max(x, leastOfLog));
    case 'soft_clip':
      return x / Math.sqrt(1 + (slope * x) ** 2);
    case 'relu6':
      return Math.min(Math.max(x, 0), 6);
    case 'gelu_tanh':
      return x * sigmoid(2 * geluScale * (x + geluCube * x ** 3));
  }
}

/** f′(x) from the input x, in float64. */
export function derivative(name: ActivationName, x: number, slope = 0.01): number {
  switch (name) {
    case 'none':
      return 1;
    case 'relu':
      return x > 0 ? 1 : 0;
    case 'leaky_relu':
      return x > 0 ? 1 : slope;
    case 'gelu':
      return 0.5 * (1 + erf(x / Math.SQRT2)) + (x * Math.exp((-x * x) / 2)) / Math.sqrt(2 * Math.PI);
    case 'silu': {
      const s = sigmoid(x);
      return s * (1 + x * (1 - s));
    }
    case 'tanh':
      return 1 - Math.tanh(x) ** 2;
    case 'sigmoid': {
      const s = sigmoid(x);
      return s * (1 - s);
    }
    case 'mish': {
      const t = Math.tanh(softplus(x));
      return t + x * (1 - t * t) * sigmoid(x);
    }
    case 'selu':
      return x > 0 ? seluScale : seluScale * seluAlpha * Math.exp(x);
    case 'cosine':
      return -2 * Math.PI * Math.sin(2 * Math.PI * x);
    case 'log':
      return x > leastOfLog ? 1 / x : 0;
    case 'soft_clip':
      return (1 + (slope * x) ** 2) ** -1.5;
    case 'relu6':
      return x > 0 && x < 6 ? 1 : 0;
    case 'gelu_tanh': {
      const s = sigmoid(2 * geluScale * (x + geluCube * x ** 3));
      return s * (1 + x * (1 - s) * 2 * geluScale * (1 + 3 * geluCube * x * x));
    }
  }
}

/** f′ from the output y = f(x); only for `derivativeFromOutput`. */
export function derivativeOfOutput(name: ActivationName, y: number, slope = 0.01): number {
  switch (name) {
    case 'relu':
      return y > 0 ? 1 : 0;
    case 'relu6':
      return y > 0 && y < 6 ? 1 : 0;
    case 'leaky_relu':
      return y > 0 ? 1 : slope;
    case 'tanh':
      return 1 - y * y;
    case 'sigmoid':
      return y * (1 - y);
    case 'selu':
      return y > 0 ? seluScale : y + seluScale * seluAlpha;
    default:
      throw new RangeError(`the derivative of ${name} is not a function of its output`);
  }
}
