// Input values for the parity tests, by kind of operand. `random` is uniform in [0, 1).

/** Standard normal, by Box and Muller. */
export const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Standard normal, but now and then `spread` times as far out, where functions saturate and exponentials overflow. */
export const normalWithOutliers = (random: () => number, index: number, spread: number): number =>
  normal(random) * (index % 13 === 5 ? spread : 1);

/** Uniform in [low, high). */
export const uniform = (random: () => number, low: number, high: number): number => low + (high - low) * random();

/** A whole number in [0, limit). */
export const whole = (random: () => number, limit: number): number => Math.floor(random() * limit);

/** Any 32-bit word. */
export const word = (random: () => number): number => whole(random, 2 ** 32);

/**
 * One entry of `scalars` [steps, 4]: learning rate, 1 − β₁ᵗ, 1 − β₂ᵗ, share of what is scheduled, as the trainer writes them for step t = 1, 2, …
 * with β₁ = 0.9 and β₂ = 0.999.
 */
export function optimizerScalar(index: number): number {
  const t = 1 + (index >> 2);
  return [0.01 / t, 1 - 0.9 ** t, 1 - 0.999 ** t, 1 / (1 + t)][index & 3];
}

/** A value `saved` for an activation's derivative: within the range of tanh and sigmoid if it is their output. */
export function savedActivation(random: () => number, index: number, activation: number, fromOutput: boolean): number {
  const tanhCode = 5;
  const sigmoidCode = 6;
  if (fromOutput && activation === tanhCode) return uniform(random, -1, 1);
  if (fromOutput && activation === sigmoidCode) return random();
  return normalWithOutliers(random, index, 5);
}
