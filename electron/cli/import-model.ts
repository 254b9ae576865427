// A model of others, or a training that comes back, at a path, as a run of the history: for `import-model`, and for runs that begin with it.

import { processOwner } from '../../engine/history/owner.ts';
import { findReturned } from '../../engine/export/returned/find.node.ts';
import { readReturned } from '../../engine/export/returned/read.ts';
import type { ReadOptions } from '../../engine/pretrained/pretrained.ts';
import { readRun } from '../../engine/pretrained/run.node.ts';
import { pretrainedSentences } from '../../engine/protocol/pretrained.ts';
import type { RunRecord } from '../../engine/protocol/runs.ts';
import { importModel } from '../../engine/runs/import-model.ts';
import { importReturned, returnedSentences } from '../../engine/runs/import-returned.ts';
import { textOption, type CommandContext, type OptionDef } from './command.ts';

export const architectureOption: OptionDef = {
  type: 'string',
  value: 'NAME',
  help: 'what a safetensors file holds: resnet18, resnet34, resnet50, mobilenet_v2 (default: told by its tensors)',
};

/** The run of the model at a path, and what is said of it. */
export async function importAt(
  { services, output, options }: Pick<CommandContext, 'services' | 'output' | 'options'>,
  where: string,
  read: ReadOptions,
): Promise<{ readonly run: RunRecord; readonly head: boolean }> {
  const store = await services.store;
  const name = textOption(options, 'name');
  const found = await findReturned(where);
  if (found) {
    const returned = readReturned(found);
    const { run, again } = await importReturned({ store, returned, owner: processOwner(), name });
    for (const sentence of returnedSentences(returned, run.parent)) output.line(sentence);
    if (again) output.line(`It is run ${run.id} already.`);
    return { run, head: true };
  }
  const pretrained = await readRun(where, read);
  const { run, again } = await importModel({ store, pretrained, owner: processOwner(), name });
  for (const sentence of pretrainedSentences(pretrained)) output.line(sentence);
  if (again) output.line(`It is run ${run.id} already.`);
  return { run, head: pretrained.head };
}
