// The activations on vectors, by the same formulas as kernels/shared/math.ts (bounds of the errors stand there).

#pragma once
#include "vectors.h"

/** Codes of kernels/activations.ts. */
enum { NONE, RELU, LEAKY_RELU, GELU, SILU, TANH, SIGMOID };

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
  case TANH:
    return 1.0f - y * y;
  case SIGMOID:
    return y * (1.0f - y);
  default:
    return splat(1);
  }
}
