// What a row holds as JSON, read with a check of all that others rely on: a run of which something cannot be read is shown as such,
// and takes no list along; a lab is left out. Runs of other machines are held to the same before they are taken up.

import { z } from 'zod';
import { declarationOf, settingGroups } from '../learners/declared/registry.ts';
import { unreadableLearner } from '../learners/declared/foreign.ts';
import type { WireError } from '../protocol/errors.ts';
import type { LabResult } from '../protocol/lab.ts';
import type { RunConfig } from '../protocol/runs.ts';
import { runFields } from '../settings/run.ts';
import { settingFacts } from '../settings/values.ts';
import { completeConfig } from './configs.ts';

const words = z.record(z.string(), z.unknown());
const number = z.number();

/** What every version has written, beside what it may have written more. */
const forms = {
  progress: z.looseObject({ epoch: number, epochs: number }),
  data: z.looseObject({ counts: words }),
  result: z.looseObject({ reason: z.string(), metrics: z.record(z.string(), z.number().nullable()) }),
  error: z.looseObject({ message: z.string() }),
  tags: z.array(z.string()),
  start: words,
  origin: z.looseObject({ run: number, machine: z.string() }),
  queue: z.looseObject({ position: number }),
} as const;

export type JsonColumn = keyof typeof forms;

/** Of a run's row, what is JSON. */
export type JsonRow = { readonly [Column in JsonColumn]: string | null } & {
  readonly config: string;
  readonly dataset: string;
};
const jsonColumns = Object.keys(forms) as readonly JsonColumn[];

/** What stands there; null: nothing, or what cannot be read. */
export function readJson(column: JsonColumn, text: string | null): unknown {
  const value = text === null ? null : valueOf(text);
  return value !== null && forms[column].safeParse(value).success ? value : null;
}

const base = z.looseObject({ learner: z.string(), settings: z.looseObject({}), seed: number.optional() });

/** A run's settings as this version has them; of such that cannot be read, that they cannot. */
export function readConfig({ config: text, dataset }: Pick<JsonRow, 'config' | 'dataset'>): RunConfig {
  const config = valueOf(text);
  if (base.safeParse(config).success && isUsable(config as RunConfig)) return completeConfig(config as RunConfig);
  return { learner: unreadableLearner, dataset, settings: {}, seed: 0, device: 'auto', threads: 0 };
}

/** Whether everything that is said of settings can be said of these. */
function isUsable(stored: RunConfig): boolean {
  try {
    const config = completeConfig(stored);
    const { preset, modelTitle, label, listed, facts, settings, units, layers, ofPictures } = declarationOf(config);
    for (const tell of [preset, modelTitle, label, listed, settings, units, ofPictures, layers]) tell?.(config);
    facts(config, 0);
    for (const group of settingGroups(config)) settingFacts(group.table, group.settings, String);
    settingFacts(runFields, config, String);
    return true;
  } catch {
    return false;
  }
}

const spread = z.looseObject({ median: number, low: number, high: number });
const samples = z.array(z.looseObject({ at: number, value: spread }));
const lab = z.looseObject({
  machine: z.looseObject({ name: z.string(), cpu: z.string(), cores: number, memoryBytes: number, os: z.string() }),
  startedAt: number,
  seconds: number,
  devices: z.array(
    z.looseObject({
      id: z.string(),
      kind: z.enum(['cpu', 'gpu']),
      name: z.string(),
      threads: number,
      products: samples,
      products16: samples.optional(),
      copy: samples,
      triad: samples,
      latencies: z.array(z.looseObject({ name: z.string(), microseconds: spread })),
      transfer: z.looseObject({ toGbPerSecond: spread, fromGbPerSecond: spread }).optional(),
      scaling: z.looseObject({ samples, own: samples.optional() }).optional(),
      workloads: z.array(z.looseObject({ name: z.string(), unit: z.string(), milliseconds: spread })),
    }),
  ),
  notes: z.array(z.string()),
});

/** A lab as it was kept; null: a part that others rely on is missing. */
export function readLab(text: string): LabResult | null {
  const value = valueOf(text);
  return lab.safeParse(value).success ? (value as LabResult) : null;
}

/** Of a run's row: what cannot be read. */
export function unreadableParts(row: JsonRow): readonly string[] {
  const broken = jsonColumns.filter((column) => row[column] !== null && readJson(column, row[column]) === null);
  return [...(readConfig(row).learner === unreadableLearner ? ['settings'] : []), ...broken];
}

/** The error of a run, or that something of it cannot be read. */
export function readError(row: JsonRow): WireError | null {
  const parts = unreadableParts(row);
  if (parts.length === 0) return readJson('error', row.error) as WireError | null;
  return {
    name: 'TrainyardError',
    code: 'run.unreadable',
    message: `What the history holds of this run cannot be read: its ${parts.join(', ')}.`,
    hint: 'Take it up again from another copy, or delete it.',
  };
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
