// How long a step may take on a GPU, before anything is measured.

/** What to expect of a device; pessimistic. */
const devices = {
  hardware: { flopsPerMillisecond: 2e8, bytesPerMillisecond: 2e7, millisecondsPerDispatch: 0.01 },
  software: { flopsPerMillisecond: 1e6, bytesPerMillisecond: 1e6, millisecondsPerDispatch: 0.1 },
} as const;

export interface StepWork {
  readonly flops: number;
  readonly bytes: number;
  readonly dispatches: number;
}

/** Milliseconds of a step. */
export function guessStep({ flops, bytes, dispatches }: StepWork, software: boolean): number {
  const device = devices[software ? 'software' : 'hardware'];
  return (
    flops / device.flopsPerMillisecond +
    bytes / device.bytesPerMillisecond +
    dispatches * device.millisecondsPerDispatch
  );
}
