// What a lab's training steps say of its roofs: the factors that forecasts of this device are multiplied with.

import { fitFactors, isComplete, type Factors, type TimedStep } from '../hardware/calibration.ts';
import { callCosts } from '../hardware/costs/from-model.ts';
import type { LabDevice } from '../protocol/lab.ts';
import type { Workload } from './workload.ts';
import { labWorkloads } from './workloads.ts';

const fitted = new WeakMap<LabDevice, Factors | undefined>();

/** Undefined where it timed no workload that is known, or no rates. Fitted once a device: views ask whenever anything changes. */
export function labFactors(lab: LabDevice): Factors | undefined {
  if (!fitted.has(lab)) fitted.set(lab, factorsOf(lab));
  return fitted.get(lab);
}

function factorsOf(lab: LabDevice): Factors | undefined {
  if (!isComplete(lab)) return undefined;
  const steps = lab.workloads.flatMap(({ name, milliseconds }) => {
    const workload = labWorkloads.find((known) => known.name === name);
    return workload ? [{ name, calls: callsOf(workload), seconds: milliseconds.median / 1000 }] : [];
  });
  return steps.length > 0 ? fitFactors(lab, steps) : undefined;
}

/** The calls of a unit of a workload. */
export function callsOf({ programs }: Workload): TimedStep['calls'] {
  return programs.flatMap(({ program, times }) => Array.from({ length: times }, () => callCosts(program)).flat());
}
