// What keeps a run from beginning, told before anything is made of it: its device, the time it is to be done by, weights that have seen the rows.

import { isCrossValidation } from '../protocol/folds.ts';
import { InputError } from '../protocol/errors.ts';
import type { RunConfig } from '../protocol/runs.ts';
import { namedDevices } from '../protocol/several-devices.ts';
import { dueText } from '../protocol/words.ts';
import { checkLearner, declarationOf } from '../learners/declared/registry.ts';

/** Throws InputError `input.device` if the learner does not train on the device asked for, `run.learner` if there is none here. */
export function checkDevice(config: RunConfig): void {
  checkLearner(config);
  const { devices, modelTitle, layers } = declarationOf(config);
  if (config.devices !== undefined) {
    namedDevices(config.devices);
    if (layers === undefined) {
      throw new InputError(
        'input.devices',
        `${modelTitle(config)}: it trains on one device; batches to share are those of networks.`,
        'Leave --devices out, or train a network.',
      );
    }
  }
  if (config.device === 'auto' || devices.includes(config.device)) return;
  const [names, asked] = [devices.map(deviceWord).join(' or '), deviceWord(config.device)];
  throw new InputError(
    'input.device',
    `${modelTitle(config)}: it trains on the ${names}, not on the ${asked}.`,
    'Leave the device to be chosen by itself.',
  );
}

/** Throws InputError `input.deadline` for what cannot be done by a time, and for one that has passed. */
export function checkDeadline(config: RunConfig): void {
  if (config.until === undefined) return;
  if (isCrossValidation(config)) {
    throw new InputError(
      'input.deadline',
      'A cross-validation cannot be planned to be done by a time.',
      'Leave out the time, or the folds.',
    );
  }
  const now = Date.now();
  if (config.until <= now) {
    throw new InputError('input.deadline', `${dueText(config.until, now)} has passed already.`, 'Name a time to come.');
  }
}

/** A run that goes on or begins anew, to be done by another time; one that has passed before it began does not hold it back. */
export function timed(config: RunConfig, until: number | undefined, begun: boolean): RunConfig {
  if (until !== undefined) {
    const asked = { ...config, until };
    checkDeadline(asked);
    return asked;
  }
  return begun || (config.until ?? Infinity) > Date.now() ? config : { ...config, until: undefined };
}

const deviceWord = (device: RunConfig['device']): string => (device === 'reference' ? device : device.toUpperCase());

/** Of a cross-validation: weights that learned from the rows of a fold would be tested on them. */
export function seenBefore(): InputError {
  return new InputError(
    'input.folds',
    'A cross-validation begins with no weights of another run: they may have learned from the rows that test it.',
    'Leave out the folds, or the weights.',
  );
}
