// What `forecast --devices` says: the model on several devices of a kind, by the same functions as the advice.

import type { Catalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import type { DeviceForecast, Forecast } from '../../engine/hardware/forecast.ts';
import {
  leastEfficiency,
  quickest,
  severalOn,
  splitWords,
  usualLinks,
  type Link,
  type Several,
} from '../../engine/hardware/several.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import { numberOption, textOption, type OptionDef, type OptionValues } from './command.ts';
import { formatCount, type Output } from './output.ts';

const linkNames = usualLinks.map(({ name }) => name).join('|');

export const severalOptions = {
  devices: { type: 'string', value: 'N', help: 'several devices: how fast, how efficient, where to stop' },
  on: { type: 'string', value: 'DEVICE', help: 'which of the catalogue; by default the quickest that holds the model' },
  interconnect: {
    type: 'string',
    value: `${linkNames}|GB/s`,
    help: 'what joins them; by default their own link, else pcie4',
  },
  'input-rate': {
    type: 'string',
    value: 'N',
    help: 'examples a second that the input delivers; by default off a disk',
  },
  stages: { type: 'string', value: 'N', help: 'the layers over so many of the device: what sits where, what crosses' },
  'critical-batch': { type: 'string', value: 'N', help: 'batch beyond which a larger one hardly saves steps' },
} as const satisfies Record<string, OptionDef>;

/** What the flags ask for; null: one device. Throws InputError. */
export function severalAsked(options: OptionValues) {
  const most = numberOption(options, 'devices', { minimum: 1, maximum: 4096, whole: true });
  const inputRate = numberOption(options, 'input-rate', { minimum: 1e-3, maximum: 1e12 });
  const criticalBatch = numberOption(options, 'critical-batch', { minimum: 1, maximum: 1e12 });
  const [on, link] = [textOption(options, 'on'), linkAsked(textOption(options, 'interconnect'))];
  if (most === undefined) {
    const apart = textOption(options, 'stages') === undefined ? ['on', 'interconnect'] : [];
    const lost = [...apart, 'input-rate', 'critical-batch'].find((name) => textOption(options, name) !== undefined);
    if (lost === undefined) return null;
    throw new InputError('usage.devices', `--${lost} says nothing without --devices.`, 'Such as --devices 8.');
  }
  return { most, on, link, inputRate, criticalBatch };
}

/** The interconnect that a flag names. Throws InputError. */
export function linkAsked(text: string | undefined): Link | undefined {
  if (text === undefined) return undefined;
  const known = usualLinks.find(({ name }) => name === text);
  if (known) return known;
  const gigabytes = Number(text);
  if (text.trim() !== '' && gigabytes > 0 && gigabytes <= 1e5)
    return { name: `${text} GB/s`, bandwidth: 1e9 * gigabytes, latency: usualLinks[0].latency };
  throw new InputError('usage.interconnect', `--interconnect is “${text}”.`, `Write GB/s or one of ${linkNames}.`);
}

/** The device that `--on` names, else the quickest. Throws InputError for one the catalogue does not have. */
export function deviceAsked(found: Forecast, catalogue: Catalogue, on: string | undefined): DeviceForecast {
  const device = on === undefined ? quickest(found, catalogue) : found.devices.find(({ id }) => id === on);
  if (device) return device;
  const hint = '`trainyard catalogue` lists the devices; those for training can be taken.';
  throw new InputError('usage.on', `There is no device “${on ?? ''}” to train on.`, hint);
}

/** The device and what several of it do. Throws InputError for one the catalogue does not have. */
export function severalAsAsked(
  found: Forecast,
  catalogue: Catalogue,
  { on, ...more }: NonNullable<ReturnType<typeof severalAsked>>,
): { readonly device: DeviceForecast; readonly several: Several } {
  const device = deviceAsked(found, catalogue, on);
  const row = catalogue.devices.find(({ id }) => id === device.id);
  const given = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== undefined)) as typeof more;
  const { most, link, ...rest } = given;
  return { device, several: severalOn(found, device, row, { most, ...(link ? { link } : {}), ...rest }) };
}

const significant = (value: number): number => Number(value.toPrecision(4));

/** Beyond as many devices as a batch has examples some would have none: then it cannot be shared out. */
const isShared = (devices: number, batch: number): boolean => devices <= batch;

export const severalEvent = ({ id }: DeviceForecast, batch: number, several: Several): object => ({
  device: id,
  interconnect: several.link.name,
  gb_s: significant(several.link.bandwidth / 1e9),
  input_per_second: significant(several.inputRate),
  critical_batch: several.criticalBatch === undefined ? null : Math.round(several.criticalBatch),
  worth_shared: Math.min(batch, several.worthShared),
  worth_grown: several.worthGrown,
  split: several.split,
  points: several.points.map((point) => ({
    devices: point.devices,
    step_seconds: isShared(point.devices, batch) ? significant(point.step) : null,
    all_reduce_seconds: significant(point.summing),
    input_seconds: significant(point.input),
    speedup: isShared(point.devices, batch) ? significant(point.speedup) : null,
    efficiency: isShared(point.devices, batch) ? significant(point.efficiency) : null,
    efficiency_grown: significant(point.grown),
    useful: significant(point.useful),
  })),
});

/** Rows that are printed at most: all up to eight, then doubling, and the last. */
const isPrinted = (devices: number, most: number): boolean =>
  devices <= 8 || devices === most || Number.isInteger(Math.log2(devices));

export function printSeveral(output: Output, { name }: DeviceForecast, batch: number, several: Several): void {
  const { points, link, worthShared, worthGrown, criticalBatch, inputRate, split } = several;
  const percent = (share: number): string => `${Number((100 * share).toPrecision(3))} %`;
  const shared = (devices: number, text: string): string => (isShared(devices, batch) ? text : '–');
  const milliseconds = (seconds: number): string => `${Number((1000 * seconds).toPrecision(3))} ms`;
  output.line();
  output.line(
    `Several ${name}, joined by ${link.name} (${Number((link.bandwidth / 1e9).toPrecision(3))} GB/s in a ring):`,
  );
  output.table(
    points.filter(({ devices }) => isPrinted(devices, points.length)),
    [
      { title: 'devices', value: ({ devices }) => String(devices), right: true },
      { title: 'a step', value: ({ devices, step }) => shared(devices, milliseconds(step)), right: true },
      { title: 'adding up', value: ({ summing }) => milliseconds(summing), right: true },
      { title: 'input', value: ({ input }) => milliseconds(input), right: true },
      {
        title: 'times as fast',
        value: ({ devices, speedup }) => shared(devices, String(Number(speedup.toPrecision(3)))),
        right: true,
      },
      { title: 'efficiency', value: ({ devices, efficiency }) => shared(devices, percent(efficiency)), right: true },
      { title: `with ${batch} each`, value: ({ grown }) => percent(grown), right: true },
      ...(criticalBatch === undefined
        ? []
        : [{ title: 'useful', value: ({ useful }: (typeof points)[number]) => percent(useful), right: true }]),
    ],
  );
  const stop = (worth: number): string =>
    worth === points.length ? `all ${worth} are worth having` : `stop at ${worth}`;
  const least = percent(leastEfficiency);
  output.line(
    `The batch of ${batch} shared out: ${stop(Math.min(batch, worthShared))} (at least ${least} efficiency).`,
  );
  if (points.length > batch)
    output.line(`On more than ${batch} devices a batch of ${batch} cannot be shared out: some would have no example.`);
  output.line(`A batch of ${batch} on each: ${stop(worthGrown)}; the training is that of a larger batch.`);
  output.line(
    criticalBatch === undefined
      ? 'From which batch on more examples a step hardly help is not known of this model: --critical-batch says it.'
      : `Beyond a batch of ${formatCount(criticalBatch)} more examples a step hardly save steps.`,
  );
  output.line(`The input delivers ${formatCount(inputRate)} examples a second to all of them together.`);
  output.line(splitWords(split, name));
}
