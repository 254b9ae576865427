// Training steps of any model on one device, open to be timed: what every host offers beside its lab, and what two devices race with.

import type { Backend } from '../backends/backend.ts';
import { timerOf } from '../bench/interleaved.ts';
import { trainingWorkload, type TrainingWorkload } from '../bench/training-workload.ts';
import type { OpenWorkload, Workload } from '../bench/workload.ts';
import { InputError } from '../protocol/errors.ts';
import type { LabTarget, RacedModel, RacePoint, StepHost } from '../protocol/lab.ts';

/** Steps that go to the device at once, as in training: a submit is shared by many. */
const stepsAtOnce = 16;

/** Steps of a model on random rows. Throws what a model with an error throws. */
export function stepWorkload({
  input,
  classes,
  optimizer,
  batch,
  model,
}: RacedModel & Omit<RacePoint, 'at'>): Workload {
  const output: TrainingWorkload['output'] =
    classes > 0
      ? { kind: 'classes', classes: Array.from({ length: classes }, (_, k) => String(k)) }
      : { kind: 'value', name: 'y', offset: 0, scale: 1 };
  const { name, learningRate, momentum } = optimizer;
  return trainingWorkload({
    name: `batch ${batch}`,
    unit: 'ms/step',
    rows: batch,
    batch,
    unitsAtOnce: stepsAtOnce,
    input,
    output,
    model,
    optimizer: { name, learningRate, momentum },
  });
}

/** The steps of one process. */
export function createStepHost(open: (target: LabTarget) => Promise<Backend>, clock: () => number): StepHost {
  const steps = new Map<number, { readonly backend: Backend; readonly workload: OpenWorkload }>();
  let last = 0;
  const named = (step: number) => {
    const found = steps.get(step);
    if (!found) throw new InputError('input.unknown_step', `No step ${step} is open here.`);
    return found;
  };
  return {
    async openStep({ target, ...asked }) {
      const backend = await open(target);
      try {
        const workload = await stepWorkload(asked).open(backend);
        steps.set(++last, { backend, workload });
        const { name, software = false } = backend.device;
        return { step: last, name, software };
      } catch (error) {
        await backend.close();
        throw error;
      }
    },
    timeStep: ({ step, units }) => timerOf(named(step).workload, clock)(units),
    async closeStep({ step }) {
      const { backend, workload } = named(step);
      steps.delete(step);
      workload.close();
      await backend.close();
    },
  };
}
