// What it costs that the native addon is missing: as the lab of this machine measured it, else as the benchmarks did.

import type { LabDevice, LabResult } from '../protocol/lab.ts';

/** Times a training step takes by WebAssembly alone: the middle of mlp (4.5), resnet20 (2.5) and mnist-cnn (2.4): docs/performance.md. */
const benchmarked = 2.5;

/** `measured`: by the lab of this machine, step by step of what it trained both ways. */
export function addonRatio(lab: LabResult | null): { readonly ratio: number; readonly measured: boolean } {
  const device = (id: string): LabDevice | undefined => lab?.devices.find((one) => one.id === id);
  const [native, alone] = [device('cpu'), device('cpu-wasm')];
  const ratios = (alone?.workloads ?? []).flatMap(({ name, milliseconds }) => {
    const same = native?.workloads.find((one) => one.name === name);
    return same ? [milliseconds.median / same.milliseconds.median] : [];
  });
  if (ratios.length === 0) return { ratio: benchmarked, measured: false };
  ratios.sort((a, b) => a - b);
  return { ratio: ratios[ratios.length >> 1], measured: true };
}

/** The same for people: `No native addon: training takes about 2.5 × as long`, and where that is known from. */
export function missingAddon(lab: LabResult | null): {
  readonly ratio: number;
  readonly text: string;
  readonly source: string;
} {
  const { ratio, measured } = addonRatio(lab);
  return {
    ratio,
    text: `No native addon: training takes about ${Number(ratio.toPrecision(2))} × as long`,
    source: measured ? 'as this machine’s lab measured' : 'as our benchmarks measured elsewhere',
  };
}

/** What brings it back; `wish`: what TRAINYARD_NATIVE says. */
export const addonRemedy = (wish: string | undefined): string =>
  wish === '0'
    ? 'The environment variable TRAINYARD_NATIVE is 0, which leaves it out: unset it.'
    : 'Install Trainyard again, or run the set-up where there is a C compiler.';
