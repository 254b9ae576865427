// What `crossover` says: the forecast and the measurement side by side, where each places the crossover, and how far apart they are.

import type { Backend } from '../../engine/backends/backend.ts';
import {
  crossoverFactor,
  crossoverOf,
  crossoverWords,
  isTooClose,
  type Race,
  type TimedRace,
} from '../../engine/hardware/crossover-forecast.ts';
import { deviceWords } from '../../engine/protocol/lab.ts';
import { formatNumber, type Output } from './output.ts';

const rounded = (value: number | null): number | null => (value === null ? null : Math.max(1, Math.round(value)));

export interface CrossoverReport {
  /** Of the model. */
  readonly name: string;
  /** What grew. */
  readonly size: 'batch' | 'width';
  readonly ids: readonly [near: string, far: string];
  readonly backends: readonly Backend[];
  readonly forecast: readonly Race[];
  readonly races: readonly TimedRace[];
}

/** Prints the event or the table, and what both say. */
export function reportCrossover(output: Output, report: CrossoverReport): void {
  const { name, size, ids, backends, forecast, races } = report;
  const [near, far] = ids;
  const [said, found] = [crossoverOf(forecast), crossoverOf(races)];
  const [predicted, timed] = [said.batch, found.batch];
  const factor = crossoverFactor(said, found);
  const software = backends.some(({ device }) => device.software === true);
  const close = isTooClose(found);
  const significant = (value: number, digits = 4): number => Number(value.toPrecision(digits));
  const milliseconds = (seconds: number): number => significant(1000 * seconds);
  output.event({
    event: 'crossover',
    model: name,
    near: near,
    far: far,
    ...(software ? { software } : {}),
    [`predicted_${size}`]: rounded(predicted),
    predicted_between: [rounded(said.low), rounded(said.high)],
    [`measured_${size}`]: rounded(timed),
    measured_between: [rounded(found.low), rounded(found.high)],
    too_close: close,
    within_percent: significant(100 * found.within, 2),
    factor: factor === null ? null : significant(factor, 3),
    steps: races.map((race, i) => ({
      [size]: race.batch,
      near_ms: [forecast[i].near, race.near].map(milliseconds),
      far_ms: [forecast[i].far, race.far].map(milliseconds),
      lead_percent: significant(100 * (Math.exp(race.lead) - 1), 3),
      error_percent: significant(100 * race.error, 2),
    })),
  });
  if (output.json) return;
  const [nearWords, farWords] = [near, far].map((id, i) => {
    const { kind, threads, software: soft = false } = backends[i].device;
    return deviceWords({ id, kind: kind === 'gpu' ? kind : 'cpu', threads, software: soft });
  });
  for (const [i, words] of [nearWords, farWords].entries()) {
    const { name: title, software: soft, kind, threads } = backends[i].device;
    const chosen = kind === 'cpu' && backends.some(({ device }) => device.kind === 'gpu') && threads > 1;
    const how = chosen ? `; steps on one thread or ${threads}, whichever is faster, as in training` : '';
    output.line(`${words}: ${title}${soft ? ' (software: for testing)' : ''}${how}`);
  }
  output.line();
  const ms = (seconds: number): string => `${formatNumber(milliseconds(seconds))} ms`;
  const percent = (share: number): string => `${(100 * share).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`;
  output.table(
    races.map((race, i) => ({ race, expected: forecast[i] })),
    [
      { title: size, value: ({ race }) => String(race.batch), right: true },
      { title: `${nearWords}, forecast`, value: ({ expected }) => ms(expected.near), right: true },
      { title: 'measured', value: ({ race }) => ms(race.near), right: true },
      { title: `${farWords}, forecast`, value: ({ expected }) => ms(expected.far), right: true },
      { title: 'measured', value: ({ race }) => ms(race.far), right: true },
      {
        title: `${farWords} ahead`,
        value: ({ race }) => `${percent(Math.exp(race.lead) - 1)} ± ${percent(2 * race.error)}`,
        right: true,
      },
    ],
  );
  output.line();
  const [forecastWords, measuredWords] = [said, found].map((each, i) =>
    crossoverWords(each, i === 0 ? forecast : races, size),
  );
  output.line(
    `${farWords} against ${nearWords} with ${name}: ahead ${forecastWords} by the forecast, ${measuredWords} as measured.`,
  );
  const [low, high] = [rounded(found.low), rounded(found.high)];
  if (races.length > 0 && low !== high && low! < races.at(-1)!.batch)
    output.line(`Neither is surely ahead between ${low} and ${high ?? 'the largest'}.`);
  if (close) output.line(`There it is too close to call: they are within ${percent(found.within)} of each other.`);
  if (factor !== null)
    output.line(
      factor <= 1
        ? 'The forecast lies within what was measured.'
        : `The forecast is off by a factor of ${factor.toFixed(2)}.`,
    );
}
