// The activations on vectors, by the same formulas as kernels/shared/math.ts (bounds of the errors stand there).

#pragma once
#include <math.h>

#include "vectors.h"

/** Codes of kernels/activations.ts. */
enum { NONE, RELU, LEAKY_RELU, GELU, SILU, TANH, SIGMOID, MISH, SELU, COSINE, LOG, SOFT_CLIP, RELU6, GELU_TANH };

/** SELU's scale, and that times its alpha. */
#define SELU_SCALE 1.0507009874f
#define SELU_FLOOR 1.7580993408f

static Vector square_root(Vector x) {
  for (int lane = 0; lane < LANES; lane++) x[lane] = sqrtf(x[lane]);
  return x;
}

static Vector exponential(Vector x) {
  const Vector held = smallest(largest(x, splat(-87.336f)), splat(88.376f));
  // Adding and taking away 1.5·2²³ rounds to the nearest whole number.
  const Vector n = (held * 1.44269504f + 12582912.0f) - 12582912.0f;
  Vector r = held - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  Vector p = splat(0.00138131424f);
  p = p * r + 0.00836941879f;
  p = p * r + 0.04166845605f;
  p = p * r + 0.16666515172f;
  p = p * r + 0.4999999404f;
  p = 1.0f + (p * r * r + r);
  const IntVector power = (__builtin_convertvector(n, IntVector) + 127) << 23;
  return p * (Vector)power;
}

static Vector sigmoid(Vector x) { return 1.0f / (1.0f + exponential(-x)); }

static Vector hyperbolic_tangent(Vector x) {
  const Vector square = x * x;
  Vector p = splat(-0.00566078071f);
  p = p * square + 0.020602f;
  p = p * square - 0.05372922867f;
  p = p * square + 0.13331328332f;
  p = p * square - 0.33333277702f;
  const Vector near = p * square * x + x;
  const Vector size = magnitude(x);
  const Vector far = with_sign(1.0f - 2.0f / (1.0f + exponential(size + size)), x);
  return choose(size < 0.63f, near, far);
}

/** The normal distribution function Φ(x), given `bell` = e^(−x²/2). */
static Vector normal_distribution(Vector x, Vector bell) {
  const Vector t = 1.0f / (magnitude(x) * 0.3f + 1.0f);
  Vector p = splat(0.01907203533f);
  p = p * t - 0.06798557192f;
  p = p * t + 0.00311250447f;
  p = p * t + 0.20076882839f;
  p = p * t - 0.06056414917f;
  p = p * t + 0.18339471519f;
  p = p * t + 0.10048208386f;
  p = p * t + 0.12171955407f;
  const Vector tail = p * t * bell;
  return choose(x < 0.0f, tail, 1.0f - tail);
}

/** ln x for positive normal x. */
static Vector logarithm(Vector x) {
  const IntVector bits = (IntVector)x;
  const IntVector n = (bits - 0x3f3504f3) >> 23;
  const Vector f = (Vector)(bits - (n << 23)) - 1.0f;
  const Vector s = f / (f + 2.0f);
  const Vector square = s * s;
  Vector p = splat(2.0f / 9.0f);
  p = p * square + 2.0f / 7.0f;
  p = p * square + 2.0f / 5.0f;
  p = p * square + 2.0f / 3.0f;
  p = p * square + 2.0f;
  return __builtin_convertvector(n, Vector) * 0.6931471806f + p * s;
}

/** x without its whole turns: −1/2 … 1/2 */
static Vector part_of_turn(Vector x) { return x - ((x + 12582912.0f) - 12582912.0f); }

/** sin 2πx */
static Vector sine_of_turns(Vector x) {
  const Vector turn = part_of_turn(x);
  const Vector size = magnitude(turn);
  const Vector z = with_sign(smallest(size, 0.5f - size), turn) * 6.2831853072f;
  const Vector square = z * z;
  Vector p = splat(-1.0f / 39916800.0f);
  p = p * square + 1.0f / 362880.0f;
  p = p * square - 1.0f / 5040.0f;
  p = p * square + 1.0f / 120.0f;
  p = p * square - 1.0f / 6.0f;
  return p * square * z + z;
}

/** 2u, u = √(2/π)(x + 0.044715x³): x·σ(2u) is GELU_TANH. */
static Vector gelu_gate(Vector x) { return x * (x * x * 0.0713548163f + 1.5957691216f); }

static Vector activate(int code, Vector x, float slope) {
  switch (code) {
  case RELU:
    return largest(x, splat(0));
  case LEAKY_RELU:
    return choose(x > 0.0f, x, x * slope);
  case GELU:
    return x * normal_distribution(x, exponential(x * x * -0.5f));
  case SILU:
    return x * sigmoid(x);
  case TANH:
    return hyperbolic_tangent(x);
  case SIGMOID:
    return sigmoid(x);
  case MISH: {
    const Vector e = exponential(smallest(x, splat(20)));
    const Vector n = e * (e + 2.0f);
    return x * (n / (n + 2.0f));
  }
  case SELU:
    return choose(x > 0.0f, x * SELU_SCALE, (exponential(smallest(x, splat(0))) - 1.0f) * SELU_FLOOR);
  case COSINE:
    // Whole turns go before the quarter comes: x + 1/4 would round what is far from 0.
    return sine_of_turns(0.25f - magnitude(part_of_turn(x)));
  case LOG:
    return choose(x == x, logarithm(largest(x, splat(1e-30f))), x);
  case SOFT_CLIP:
    return x / square_root(x * slope * (x * slope) + 1.0f);
  case RELU6:
    return smallest(largest(x, splat(0)), splat(6));
  case GELU_TANH:
    return x * sigmoid(gelu_gate(x));
  default:
    return x;
  }
}

/** f′ from the input x. */
static Vector derivative(int code, Vector x, float slope) {
  switch (code) {
  case RELU:
    return choose(x > 0.0f, splat(1), splat(0));
  case LEAKY_RELU:
    return choose(x > 0.0f, splat(1), splat(slope));
  case GELU: {
    const Vector bell = exponential(x * x * -0.5f);
    return x * (bell * 0.3989422804f) + normal_distribution(x, bell);
  }
  case SILU: {
    const Vector s = sigmoid(x);
    return s * (x * (1.0f - s) + 1.0f);
  }
  case TANH: {
    const Vector e = exponential(magnitude(x) * -2.0f);
    return e * 4.0f / ((1.0f + e) * (1.0f + e));
  }
  case SIGMOID: {
    const Vector e = exponential(-magnitude(x));
    return e / ((1.0f + e) * (1.0f + e));
  }
  case MISH: {
    const Vector e = exponential(smallest(x, splat(20)));
    const Vector n = e * (e + 2.0f);
    const Vector below = n + 2.0f;
    return x * (e / (e + 1.0f) * ((n + 1.0f) * 4.0f / (below * below))) + n / below;
  }
  case SELU:
    return choose(x > 0.0f, splat(SELU_SCALE), exponential(smallest(x, splat(0))) * SELU_FLOOR);
  case COSINE:
    return sine_of_turns(x) * -6.2831853072f;
  case LOG:
    return choose(x > 1e-30f, 1.0f / x, splat(0));
  case SOFT_CLIP: {
    const Vector square = x * slope * (x * slope) + 1.0f;
    return 1.0f / (square * square_root(square));
  }
  case RELU6:
    return choose(x > 0.0f, choose(x < 6.0f, splat(1), splat(0)), splat(0));
  case GELU_TANH: {
    // σ + x·σ(1 − σ)·gate′, where σ(1 − σ) = e/(1 + e)², e = e^(−|gate|): 1 − σ would cancel where σ is near 1.
    const Vector gate = gelu_gate(x), e = exponential(-magnitude(gate));
    const Vector above = 1.0f / (1.0f + e), below = e * above;
    return above * below * x * (x * x * (3.0f * 0.0713548163f) + 1.5957691216f) + choose(gate > 0.0f, above, below);
  }
  default:
    return splat(1);
  }
}

/** f′ from the output y = f(x). */
static Vector derivative_of_output(int code, Vector y, float slope) {
  switch (code) {
  case RELU:
    return choose(y > 0.0f, splat(1), splat(0));
  case LEAKY_RELU:
    return choose(y > 0.0f, splat(1), splat(slope));
  case RELU6:
    return choose(y > 0.0f, choose(y < 6.0f, splat(1), splat(0)), splat(0));
  case TANH:
    return 1.0f - y * y;
  case SIGMOID:
    return y * (1.0f - y);
  case SELU:
    return choose(y > 0.0f, splat(SELU_SCALE), y + SELU_FLOOR);
  default:
    return splat(1);
  }
}

/** y = f(x); y may be x. `past`: it begins at a line and is written past the caches. */
INLINE void activate_range(const float *x, float *y, int count, const int code, float slope, const int past) {
  int i = 0;
  for (; past && i + LANES <= count; i += LANES) stream(y + i, activate(code, load(x + i), slope));
  for (; i + 4 * LANES <= count; i += 4 * LANES) {
#pragma GCC unroll 4
    for (int j = i; j < i + 4 * LANES; j += LANES) store(y + j, activate(code, load(x + j), slope));
  }
  for (; i < count; i += LANES) store_lanes(y + i, activate(code, load_lanes(x + i, count - i), slope), count - i);
}
