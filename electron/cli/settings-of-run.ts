// The settings of an earlier run, with what flags change of them: what `check --from` looks at.

import { declarationOf, ownSettings } from '../../engine/learners/declared/registry.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { RunConfig, RunRecord } from '../../engine/protocol/runs.ts';
import { onDevice } from '../../engine/protocol/several-devices.ts';
import { runFields } from '../../engine/settings/run.ts';
import { withChosen } from '../../engine/settings/values.ts';
import { commonOptions, type CommandContext, type OptionValues } from './command.ts';
import { chosenByFlags, flagsOf } from './setting-flags.ts';
import { threadsOption } from './threads-option.ts';

const { device, threads } = runFields;
const surroundings = flagsOf({ device, threads });

/** Throws InputError `usage.option` for flags that choose other data or another model, and for those of other learners. */
export function settingsOfRun({ options, output }: CommandContext, { id, config }: RunRecord): RunConfig {
  const { own, fields } = declarationOf(config);
  refuseOthers(id, options, [...Object.keys(flagsOf(fields)), ...Object.keys(surroundings), 'from']);
  const chosen = chosenByFlags({ device }, options).device;
  const { folds: _, ...alone } = chosen === undefined ? config : onDevice(config, chosen);
  return {
    ...alone,
    ...{ [own]: withChosen(ownSettings(config), chosenByFlags(fields, options)) },
    threads: options.threads === undefined ? config.threads : threadsOption(options, output),
  };
}

function refuseOthers(run: number, options: OptionValues, allowed: readonly string[]): void {
  const everywhere = Object.keys(commonOptions);
  const odd = Object.entries(options).find(
    ([name, value]) => value !== undefined && !allowed.includes(name) && !everywhere.includes(name),
  );
  if (odd === undefined) return;
  throw new InputError(
    'usage.option',
    `--${odd[0]} does not go with --from: data and model are those of run ${run}.`,
    'Leave one of them out.',
  );
}
