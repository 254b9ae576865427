// The file of the catalogue: devices, cloud offers, grids and tariffs, each figure with its source, date and confidence. A row says
// source and confidence once; a figure that differs is an object with its own. Own files may leave out what they do not change.

import { z } from 'zod';

/**
 * How sure a figure is: `vendor` a data sheet, `seen` another source, `derived` arithmetic, `memory` unverified, `disputed` sources
 * disagree, `own` typed by the person. What is remembered or disputed is shown with a badge and left out of advice.
 */
export const confidences = ['vendor', 'seen', 'derived', 'memory', 'disputed', 'own'] as const;
export type Confidence = (typeof confidences)[number];

export const deviceKinds = ['gpu', 'cpu', 'tpu', 'asic', 'edge', 'fpga', 'neuromorphic'] as const;
export type DeviceKind = (typeof deviceKinds)[number];

/** What it is offered for: nothing but `training` is ever advised for training. */
export const deviceUses = ['training', 'inference', 'research'] as const;
export type DeviceUse = (typeof deviceUses)[number];

const date = z.iso.date();
/** Where a price or rate changed last; `null`: the source does not say. */
const dated = date.nullable();
const text = z.string().min(1).max(300);
const id = z
  .string()
  .regex(/^[a-zA-Z0-9][\w.-]*$/)
  .max(80);

const figureObject = z.strictObject({
  value: z.number().nonnegative(),
  low: z.number().nonnegative().optional(),
  high: z.number().nonnegative().optional(),
  source: text.optional(),
  confidence: z.enum(confidences).optional(),
  date: dated.optional(),
  note: text.optional(),
});

/** A figure of at most `most`: what is beyond it is a slip of the pen. */
const figure = (most: number, above0 = false) => {
  return z.union([
    (above0 ? z.number().positive() : z.number().nonnegative()).max(most),
    figureObject
      .refine((f) => f.value <= most, `at most ${most} expected`)
      .refine((f) => !above0 || f.value > 0, 'a value above 0 expected'),
  ]);
};

/** Prices may be 0; a rate or a size that is 0 would make a training take for ever: what is not there is left out. */
const isPrice = (name: string): boolean => name.endsWith('Price');

/** Every figure of a device, with its unit and the most that is believed. */
export const deviceFigures = {
  memory: { unit: 'GB', most: 100_000, words: 'memory' },
  bandwidth: { unit: 'GB/s', most: 1e5, words: 'memory bandwidth' },
  fp32: { unit: 'TFLOP/s', most: 1e4, words: 'float32 peak' },
  tf32: { unit: 'TFLOP/s', most: 1e5, words: 'TF32 peak, dense' },
  fp16: { unit: 'TFLOP/s', most: 1e5, words: '16-bit peak, dense, float32 sums' },
  fp8: { unit: 'TFLOP/s', most: 1e6, words: '8-bit float peak, dense' },
  int8: { unit: 'TOPS', most: 1e6, words: '8-bit integer peak' },
  power: { unit: 'W', most: 1e5, words: 'rated power' },
  launchPrice: { unit: 'USD', most: 1e7, words: 'price at launch' },
  streetPrice: { unit: 'USD', most: 1e7, words: 'price in shops' },
  systemPrice: { unit: 'USD', most: 1e7, words: 'price of the whole computer' },
  link: { unit: 'GB/s', most: 1e5, words: 'link to others, one way' },
  cores: { unit: '', most: 1e7, words: 'cores (of a GPU: lanes)' },
  achieved16: { unit: '', most: 1, words: 'share of the 16-bit peak a large product reached' },
} as const;
export type DeviceFigure = keyof typeof deviceFigures;
export const deviceFigureNames = Object.keys(deviceFigures) as readonly DeviceFigure[];

const figures = Object.fromEntries(
  deviceFigureNames.map((name) => [name, figure(deviceFigures[name].most, !isPrice(name)).optional()]),
) as Record<DeviceFigure, z.ZodOptional<ReturnType<typeof figure>>>;

const row = { source: text, confidence: z.enum(confidences), date: dated.optional(), note: text.optional() };

const source = z.strictObject({ title: text, url: z.url().nullable(), date: dated, read: date });

const device = z.strictObject({
  id,
  name: text,
  vendor: text,
  kind: z.enum(deviceKinds),
  use: z.enum(deviceUses),
  year: z.int().min(1980).max(2100).optional(),
  /** Its memory is the computer's. */
  unified: z.boolean().optional(),
  ...row,
  ...figures,
});

/** USD an hour of the whole instance. */
const hourly = figure(1e6);

const offer = z.strictObject({
  id,
  provider: text,
  instance: text,
  /** A device of the catalogue, or the name of one that is not in it. */
  device: id.optional(),
  deviceName: text.optional(),
  count: z.int().min(1).max(100_000),
  onDemand: hourly,
  spot: hourly.optional(),
  region: text,
  ...row,
});

const grid = z.strictObject({ id, name: text, gramsPerKWh: figure(5000), ...row });
const tariff = z.strictObject({ id, name: text, usdPerKWh: figure(100), ...row });

export const catalogueFile = z.strictObject({
  version: z.literal(1),
  compiled: date,
  sources: z.record(id, source),
  devices: z.array(device),
  offers: z.array(offer),
  grids: z.array(grid),
  tariffs: z.array(tariff),
});

/** A person's own entries: any part of a row whose `id` is built in, whole rows otherwise. Source and confidence default to `own`. */
export const ownFile = z.strictObject({
  version: z.literal(1),
  sources: z.record(id, source).optional(),
  devices: z.array(device.partial().required({ id: true })).optional(),
  offers: z.array(offer.partial().required({ id: true })).optional(),
  grids: z.array(grid.partial().required({ id: true })).optional(),
  tariffs: z.array(tariff.partial().required({ id: true })).optional(),
});

export type CatalogueFile = z.infer<typeof catalogueFile>;
export type OwnFile = z.infer<typeof ownFile>;
export type FigureEntry = z.infer<typeof hourly>;
export type RowName = 'devices' | 'offers' | 'grids' | 'tariffs';
export const rowNames: readonly RowName[] = ['devices', 'offers', 'grids', 'tariffs'];
/** The fields a row of each list must have in the end. */
export const rowSchemas = { devices: device, offers: offer, grids: grid, tariffs: tariff } as const;
