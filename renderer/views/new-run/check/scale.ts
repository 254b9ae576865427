// Scales of the drawings: from values to shares of a length, with ticks and their words.

export interface Scale {
  /** 0 … 1. */
  readonly at: (value: number) => number;
  readonly ticks: readonly { readonly value: number; readonly label: string }[];
}

const raised = '⁰¹²³⁴⁵⁶⁷⁸⁹';
const powerText = (power: number): string =>
  `10${[...String(power)].map((digit) => (digit === '-' ? '⁻' : raised[Number(digit)])).join('')}`;

/** Whole powers of ten round the values above 0, six ticks at most. */
export function logScale(values: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0 && Number.isFinite(value));
  const powers = positive.map(Math.log10);
  const low = Math.floor(Math.min(0, ...powers.map((power) => power + 1e-9)));
  const high = Math.ceil(Math.max(low + 1, ...powers));
  const bottom = powers.length > 0 ? Math.floor(Math.min(...powers)) : low;
  const span = Math.max(1, high - bottom);
  const every = Math.ceil(span / 5);
  const ticks = [];
  for (let power = bottom; power <= high; power += every) ticks.push({ value: 10 ** power, label: powerText(power) });
  const at = (value: number): number =>
    value > 0 ? Math.min(1, Math.max(0, (Math.log10(value) - bottom) / span)) : value === Infinity ? 1 : 0;
  return { at, ticks };
}

/** From `from` to at least `to`, with some five round ticks. */
export function linearScale(from: number, to: number, write: (value: number) => string = String): Scale {
  const span = Math.max(to - from, 1e-12);
  const rough = 10 ** Math.floor(Math.log10(span / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * rough).find((each) => span / each <= 5) ?? rough;
  const ticks = [];
  for (let i = Math.ceil(from / step); i * step <= to + step / 1e6; i++) {
    const value = Number((i * step).toPrecision(6));
    ticks.push({ value, label: write(value) });
  }
  return { at: (value) => Math.min(1, Math.max(0, (value - from) / span)), ticks };
}
