// `import-model`: a model that others have trained becomes a finished run.

import { readFile } from 'node:fs/promises';
import { processOwner } from '../../../engine/history/owner.ts';
import { openModel } from '../../../engine/pretrained/find.node.ts';
import type { ReadOptions } from '../../../engine/pretrained/pretrained.ts';
import { readPretrained } from '../../../engine/pretrained/read.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { importModel, sentences } from '../../../engine/runs/import-model.ts';
import { about } from '../about.ts';
import { textOption, type Command, type CommandContext, type OptionDef, type OptionValues } from '../command.ts';
import { unreadable } from '../input-file.ts';
import { formatCount } from '../output.ts';

export const architectureOption: OptionDef = {
  type: 'string',
  value: 'NAME',
  help: 'what a safetensors file holds: resnet18, resnet34, resnet50, mobilenet_v2 (default: told by its tensors)',
};

export const importModelCommand: Command = {
  ...about['import-model'],
  positionals: [1, 1],
  options: {
    architecture: architectureOption,
    classes: {
      type: 'string',
      value: 'FILE.txt',
      path: true,
      help: 'names of the classes, one a line, in the order of the outputs',
    },
    name: { type: 'string', value: 'TEXT', help: 'name of the run' },
  },
  run: async (context) => {
    const { positionals, options, output } = context;
    const { run, head } = await importAt(context, positionals[0], await readOptionsOf(options));
    output.event({ event: 'finished', run: run.id, parameters: run.parameters, head });
    output.line(`Run ${run.id}: ${formatCount(run.parameters)} weights.`);
    output.line(
      head
        ? `Use it: trainyard predict ${run.id} FILE; begin with it: trainyard train DATA --from ${run.id}`
        : `Begin with it: trainyard train DATA --from ${run.id}`,
    );
  },
};

/** The run of the model at a path, and what is said of it. */
export async function importAt(
  { services, output, options }: Pick<CommandContext, 'services' | 'output' | 'options'>,
  where: string,
  read: ReadOptions,
): Promise<{ readonly run: RunRecord; readonly head: boolean }> {
  const opened = await openModel(where);
  try {
    const pretrained = await readPretrained(opened, read);
    const store = await services.store;
    const name = textOption(options, 'name');
    const { run, again } = await importModel({ store, pretrained, owner: processOwner(), name });
    for (const sentence of sentences(pretrained)) output.line(sentence);
    if (again) output.line(`It is run ${run.id} already.`);
    return { run, head: pretrained.head };
  } finally {
    await opened.close();
  }
}

async function readOptionsOf(options: OptionValues): Promise<ReadOptions> {
  const [architecture, file] = [textOption(options, 'architecture'), textOption(options, 'classes')];
  if (file === undefined) return { architecture };
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw unreadable(file, error, 'input.classes', 'Give a text file with one name a line.');
  });
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return { architecture, classes: lines.at(-1) === '' ? lines.slice(0, -1) : lines };
}
