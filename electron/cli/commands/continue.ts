// `continue`: a finished or stopped run goes on as a new run that knows it.

import { declarations, declarationOf, ownSettings } from '../../../engine/learners/declared/registry.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import type { RunConfig, RunRecord } from '../../../engine/protocol/runs.ts';
import { onDevice } from '../../../engine/protocol/several-devices.ts';
import { runFields } from '../../../engine/settings/run.ts';
import { withChosen } from '../../../engine/settings/values.ts';
import { about } from '../about.ts';
import { runNumber, textOption, type Command, type OptionDef, type OptionValues } from '../command.ts';
import { chosenByFlags, flagsOf } from '../setting-flags.ts';
import { checkpointChoice, checkpointOption } from '../transfer-options.ts';
import { threadsOption } from '../threads-option.ts';
import { follow } from './train.ts';

const { device, threads } = runFields;
const surroundings = { device, threads };

/** The flags of what a run that goes on may have other than its parent; `--epochs` is said in another way. */
const { epochs: _, ...settingFlags } = Object.assign(
  {},
  // Those of networks last: where a flag is of several learners, their words for it stand.
  ...declarations
    .filter(({ goesOn }) => goesOn)
    .toSorted((one, other) => Number(other.trees) - Number(one.trees))
    .map(({ fields, goesOnWith: names }) =>
      flagsOf(names ? Object.fromEntries(Object.entries(fields).filter(([name]) => names.includes(name))) : fields),
    ),
) as Record<string, OptionDef>;

export const continueCommand: Command = {
  ...about.continue,
  positionals: [1, 1],
  options: {
    epochs: { type: 'string', value: '+N|N', help: 'so many more, or up to so many in all' },
    checkpoint: { ...checkpointOption, help: `${checkpointOption.help} (default last; best of one that diverged)` },
    ...flagsOf(surroundings),
    ...settingFlags,
    name: { type: 'string', value: 'TEXT', help: 'name of the new run' },
  },
  run: async (context) => {
    const { positionals, options, services, output } = context;
    const run = runNumber(positionals[0]);
    const parent = await (await services.store).run({ run });
    const config = changed(parent, { ...options }, threadsOption(options, output));
    const name = textOption(options, 'name');
    const checkpoint = checkpointChoice(options);
    await follow(context, (manager) => manager.goOn({ run, name, config, checkpoint }));
  },
};

/** The settings of the new run: those of its parent, for more epochs, with what the flags change. */
function changed(parent: RunRecord, options: OptionValues, threadCount: number): RunConfig {
  const { config } = parent;
  const { own, fields, extended } = declarationOf(config);
  // What it is refused for is said where it is refused.
  const longer = extended ? extended(config, unitsOption(parent, options)) : config;
  const chosen = chosenByFlags(fields, { ...options, epochs: undefined });
  const on = chosenByFlags(surroundings, options).device;
  return {
    ...(on === undefined ? longer : onDevice(longer, on)),
    ...{ [own]: withChosen(ownSettings(longer), chosen) },
    threads: options.threads === undefined ? config.threads : threadCount,
  };
}

/** Epochs in all. */
function unitsOption(parent: RunRecord, options: OptionValues): number {
  const { units } = declarationOf(parent.config);
  const text = textOption(options, 'epochs');
  if (text === undefined) return units(parent.config);
  const [, more, digits] = /^(\+?)(\d{1,7})$/.exec(text) ?? [];
  const count = Number(digits);
  if (digits === undefined || count < 1) {
    throw new InputError('usage.option', `--epochs is “${text}”.`, 'Write +10 for ten more, or 30 for thirty in all.');
  }
  return more === '' ? count : (parent.result?.epochs ?? parent.progress?.epoch ?? 0) + count;
}
