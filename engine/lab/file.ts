// A lab as a file, so that machines can be laid side by side: what is written, and what is accepted when it is read.

import { z } from 'zod';
import { InputError } from '../protocol/errors.ts';
import { parseJson } from '../protocol/json.ts';
import { latencyNames, type LabRecord, type LabResult, type LabSummary } from '../protocol/lab.ts';

const format = 'trainyard-lab';
/** Bytes of a file that may be a lab: one of this program has less than a hundredth of it. */
export const largestLabFile = 4 * 2 ** 20;

const text = z.string().max(1000);
const positive = z.number().positive();
/** GFLOP/s, GB/s, microseconds or milliseconds: beyond that no machine is. */
const figure = positive.max(1e9);
const count = z.int().positive();

const spread = z
  .strictObject({ median: figure, low: figure, high: figure, calls: count, tries: count.optional() })
  .refine(({ low, median, high }) => low <= median && median <= high, 'low, median and high are out of order');
const samples = z.array(z.strictObject({ at: positive.max(2 ** 50), value: spread })).max(1000);

const device = z.strictObject({
  id: z.string().regex(/^(cpu|cpu-1|cpu-wasm|gpu-\d{1,2})$/),
  kind: z.enum(['cpu', 'gpu']),
  name: text,
  threads: count,
  software: z.boolean(),
  products: samples,
  products16: samples.optional(),
  copy: samples,
  triad: samples,
  latencies: z.array(z.strictObject({ name: z.enum(latencyNames), microseconds: spread })).max(100),
  transfer: z.strictObject({ toGbPerSecond: spread, fromGbPerSecond: spread }).optional(),
  scaling: z.strictObject({ product: count, samples, own: samples.optional() }).optional(),
  workloads: z
    .array(z.strictObject({ name: text, unit: z.enum(['ms/epoch', 'ms/step', 'ms/fit']), milliseconds: spread }))
    .max(100),
});

const result = z.strictObject({
  version: z.literal(1),
  machine: z.strictObject({
    name: text,
    cpu: text,
    cores: count,
    memoryBytes: positive.max(2 ** 50),
    os: text,
    powerSource: z.enum(['mains', 'battery']).optional(),
  }),
  startedAt: z.int().min(0).max(8.64e15),
  seconds: positive.max(1e6),
  devices: z
    .array(device)
    .min(1)
    .max(100)
    .refine((all) => new Set(all.map(({ id }) => id)).size === all.length, 'a device stands there twice'),
  notes: z.array(text).max(1000),
}) satisfies z.ZodType<LabResult>;

/** The file of a lab. */
export function labText(lab: LabResult): string {
  return `${JSON.stringify({ format, ...lab }, null, 1)}\n`;
}

/**
 * Reads the file of a lab.
 * @throws InputError `input.lab`: what is wrong, and where.
 */
export function readLab(content: string, file: string): LabResult {
  let value: unknown;
  try {
    value = parseJson(content);
  } catch (error) {
    throw refused(file, `it is no JSON: ${(error as Error).message}`, error);
  }
  if (typeof value !== 'object' || value === null || (value as { format?: unknown }).format !== format) {
    throw refused(file, `its “format” is not “${format}”`);
  }
  const { format: _format, ...rest } = value as Record<string, unknown>;
  const { version } = rest;
  if (typeof version === 'number' && version > 1) {
    throw refused(file, `it was written by a newer Trainyard (version ${version}; this one knows version 1)`);
  }
  const read = result.safeParse(rest);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw refused(file, `at ${issue.path.join('.') || 'its top'}: ${issue.message}`, read.error);
}

function refused(file: string, why: string, cause?: unknown): InputError {
  return new InputError(
    'input.lab',
    `${file} is no lab of Trainyard: ${why}.`,
    'Export one with `trainyard lab --export FILE`.',
    {
      cause,
    },
  );
}

/** The name a file of a lab is offered under. */
export function labFileName({ machine, startedAt }: LabResult): string {
  const day = new Date(startedAt).toISOString().slice(0, 10);
  return `lab-${machine.name.replace(/[^\w.-]+/g, '-').slice(0, 60)}-${day}.json`;
}

export function summaryOf({ id, imported, result: lab }: LabRecord): LabSummary {
  const { machine, startedAt, seconds, devices } = lab;
  return { id, imported, machine: machine.name, startedAt, seconds, devices: devices.map((one) => one.id) };
}
