// What a lab's training steps say of its roofs: the factors that forecasts of this device are multiplied with.

import { fitFactors, isComplete, type Factors } from '../hardware/calibration.ts';
import type { LabDevice } from '../protocol/lab.ts';
import { callsOf } from './quick-lab.ts';
import { workloads } from './workloads.ts';

/** Undefined where it timed no workload that is known, or no rates. */
export function labFactors(lab: LabDevice): Factors | undefined {
  if (!isComplete(lab)) return undefined;
  const steps = lab.workloads.flatMap(({ name, milliseconds }) => {
    const workload = workloads.find((known) => known.name === name);
    return workload ? [{ name, calls: callsOf(workload), seconds: milliseconds.median / 1000 }] : [];
  });
  return steps.length > 0 ? fitFactors(lab, steps) : undefined;
}
