// The flags of runs that begin with another one: `--checkpoint`, `--from`, `--up-to`, `--freeze`.

import { isNetwork } from '../../engine/learners/network/declaration.ts';
import { bodyOf } from '../../engine/model/freeze.ts';
import type { ModelSpec } from '../../engine/model/spec.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import type { CheckpointChoice, TransferRequest } from '../../engine/protocol/going-on.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { importAt } from './import-model.ts';
import { runNumber, textOption, type CommandContext, type OptionDef, type OptionValues } from './command.ts';

export const checkpointOption: OptionDef = {
  type: 'string',
  value: 'best|last|EPOCH',
  help: 'which of the states a run has kept',
};

/** Throws InputError for what is none. */
export function checkpointChoice(options: OptionValues): CheckpointChoice | undefined {
  const text = textOption(options, 'checkpoint');
  if (text === undefined || text === 'best' || text === 'last') return text;
  const epoch = Number(text);
  if (Number.isInteger(epoch) && epoch > 0) return epoch;
  throw new InputError(
    'usage.option',
    `--checkpoint is “${text}”.`,
    'It has to be best, last or the number of an epoch.',
  );
}

/** The run that `--from` names, or that the model at that path becomes. */
export async function parentOption(context: CommandContext): Promise<RunRecord | undefined> {
  const { options, services } = context;
  const from = textOption(options, 'from');
  const architecture = textOption(options, 'architecture');
  if (from !== undefined && !/^\s*\d+\s*$/.test(from)) {
    const named = { ...context, options: { ...options, name: undefined } };
    return (await importAt(named, from, { architecture })).run;
  }
  if (architecture !== undefined) {
    throw new InputError(
      'usage.option',
      '--architecture says what a file of weights holds, and there is none.',
      'Name one: --from FILE.safetensors.',
    );
  }
  if (from !== undefined) return (await services.store).run({ run: runNumber(from) });
  for (const flag of ['up-to', 'checkpoint']) {
    if (textOption(options, flag) === undefined) continue;
    throw new InputError(
      'usage.option',
      `--${flag} means nothing without --from.`,
      'Name a run to begin with: --from RUN.',
    );
  }
  return undefined;
}

export function transferOption(parent: RunRecord, options: OptionValues): TransferRequest {
  const upTo = isNetwork(parent.config) ? layersOption(options, 'up-to', parent.config.model) : undefined;
  return {
    run: parent.id,
    checkpoint: checkpointChoice(options),
    ...(upTo === undefined ? {} : { upTo: Number(upTo) }),
  };
}

/** A number of first layers, said as it is or by the name of the last of them. */
export function layersOption(options: OptionValues, flag: string, { layers }: ModelSpec): string | undefined {
  const text = textOption(options, flag);
  if (text === undefined || /^\d+$/.test(text)) return text;
  if (text === 'body') return String(bodyOf(layers));
  const index = layers.findIndex(({ id }) => id === text);
  if (index >= 0) return String(index + 1);
  const names = layers.flatMap(({ id }) => (id === undefined ? [] : [id]));
  throw new InputError(
    'usage.option',
    `--${flag} is “${text}”: no layer has that name.`,
    names.length > 0
      ? `Layers are ${names.join(', ')}; or write how many.`
      : `Write how many of the ${layers.length} layers.`,
  );
}
