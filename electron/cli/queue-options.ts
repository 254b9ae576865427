// What `train` may ask of the queue, as flags.

import { InputError } from '../../engine/protocol/errors.ts';
import { priorities, timeAsked, type Priority, type QueueWish } from '../../engine/protocol/queue.ts';
import { runNumber, textOption, type OptionDef, type OptionValues } from './command.ts';

export const queueOptions = {
  queue: {
    type: 'boolean',
    help: 'only put the run into the queue: the app, or `trainyard queue run`, trains it when it is its turn',
  },
  first: { type: 'boolean', help: 'with --queue: in front of all that wait' },
  priority: {
    type: 'string',
    value: 'high|normal|low',
    help: 'with --queue: before all of a lower priority, whatever their places (default normal)',
  },
  after: { type: 'string', value: 'RUN', help: 'with --queue: when this run has ended, however it ended' },
  'start-at': {
    type: 'string',
    value: 'TIME',
    help: 'with --queue: no earlier than this, 22:30 or 2026-12-24T22:30',
  },
} as const satisfies Record<string, OptionDef>;

/** undefined: the run is trained here and now. Throws InputError for flags that say nothing without the queue. */
export function queueWish(options: OptionValues, now = new Date()): QueueWish | undefined {
  const after = textOption(options, 'after');
  const time = textOption(options, 'start-at');
  const asked = textOption(options, 'priority');
  if (options.queue !== true) {
    const alone = (['first', 'priority', 'after', 'start-at'] as const).find((name) => options[name] !== undefined);
    if (alone === undefined || options[alone] === false) return undefined;
    throw new InputError('usage.option', `--${alone} says where a run waits in the queue.`, 'Add --queue.');
  }
  return {
    only: true,
    first: options.first === true,
    ...(asked === undefined ? {} : { priority: priorityOf(asked) }),
    ...(after === undefined ? {} : { after: runNumber(after) }),
    ...(time === undefined ? {} : { notBefore: timeOf('start-at', time, now) }),
  };
}

/** When a run is to be done, in milliseconds since 1970. Throws InputError. */
export function untilOption(options: OptionValues, now = new Date()): number | undefined {
  const time = textOption(options, 'until');
  if (time === undefined) return undefined;
  if (options.minutes === undefined) return timeOf('until', time, now);
  throw new InputError('usage.option', '--until and --minutes do not go together.', 'Leave one of them out.');
}

export function priorityOf(text: string): Priority {
  const found = priorities.find((priority) => priority === text);
  if (found) return found;
  throw new InputError('usage.option', `There is no priority ${text}.`, 'Write high, normal or low.');
}

/** A time to come, in milliseconds since 1970. */
export function timeOf(flag: string, text: string, now: Date): number {
  const time = timeAsked(text, now);
  if (time === null) {
    throw new InputError('usage.option', `--${flag} ${text} is no time.`, 'Write 22:30, or 2026-12-24T22:30.');
  }
  if (time <= now.getTime()) throw new InputError('usage.option', `--${flag} ${text} is past.`, 'Name a time to come.');
  return time;
}
