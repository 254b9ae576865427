// The devices of a run that is on several at once, as they are written: `cpu:2`, `cpu,gpu`, and with how much of each batch is
// whose `cpu@3,gpu@1`.

import { InputError } from './errors.ts';
import type { RunConfig } from './runs.ts';

export interface NamedDevice {
  readonly kind: 'cpu' | 'gpu';
  /** How much of a batch it gets, beside the others; null: as much as pays. */
  readonly weight: number | null;
}

/** Devices that share a batch, at most: of more each would have next to nothing. */
const mostDevices = 32;

/** The devices in order, CPUs first: the first one sums. Throws InputError `input.devices`. */
export function namedDevices(text: string): readonly NamedDevice[] {
  const named = text.split(',').flatMap((part): NamedDevice[] => {
    const [, kind, count = '1', weight] =
      /^\s*(cpu|gpu)(?::(\d{1,3}))?(?:@(\d{1,6}(?:\.\d{1,6})?))?\s*$/i.exec(part) ?? [];
    if (kind === undefined || Number(count) === 0) throw refused(`“${part.trim()}” is no device.`);
    if (Number(weight) === 0) throw refused(`“${part.trim()}” would have nothing to do.`);
    const device = { kind: kind.toLowerCase() as 'cpu' | 'gpu', weight: weight === undefined ? null : Number(weight) };
    return Array.from({ length: Number(count) }, () => device);
  });
  const gpus = named.filter(({ kind }) => kind === 'gpu').length;
  if (gpus > 1) throw refused(`${gpus} GPUs are asked for: WebGPU shows a program one of them.`);
  if (named.length < 2) throw refused(`“${text.trim()}” is one device: for that there is --device.`);
  if (named.length > mostDevices) throw refused(`${named.length} devices are too many: ${mostDevices} at most.`);
  if (named.some(({ weight }) => weight === null) && named.some(({ weight }) => weight !== null)) {
    throw refused('Some devices have a weight and others have none.');
  }
  return named.toSorted((one, other) => Number(one.kind === 'gpu') - Number(other.kind === 'gpu'));
}

/**
 * How much of a batch each device gets, for forecasts of memory: as asked for, the same among devices of a kind, and where their speeds are to decide
 * nearly all of it one of them, which takes the most.
 */
export function sharesToExpect(devices: readonly NamedDevice[]): readonly number[] {
  const alike = devices.every(({ kind }) => kind === devices[0].kind);
  return devices.map(({ weight }, i) => weight ?? (alike || i > 0 ? 1 : 32));
}

/** The same settings on one device. */
export function onDevice<C extends RunConfig>({ devices: _, ...config }: C, device: RunConfig['device']) {
  return { ...config, device };
}

const refused = (message: string): InputError =>
  new InputError(
    'input.devices',
    message,
    'Write cpu:2 for two CPU processes, cpu,gpu for both, or cpu@3,gpu@1 for fixed shares.',
  );
