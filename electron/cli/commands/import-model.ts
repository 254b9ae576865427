// `import-model`: a model that others have trained becomes a finished run.

import { readFile } from 'node:fs/promises';
import type { ReadOptions } from '../../../engine/pretrained/pretrained.ts';
import { about } from '../about.ts';
import { numberOption, textOption, type Command, type OptionValues } from '../command.ts';
import { architectureOption, importAt } from '../import-model.ts';
import { unreadable } from '../input-file.ts';
import { formatCount } from '../output.ts';

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
    length: {
      type: 'string',
      value: 'N',
      help: 'tokens of a text that are read (default: as many as the model has positions)',
    },
    name: { type: 'string', value: 'TEXT', help: 'name of the run' },
  },
  run: async (context) => {
    const { positionals, options, output } = context;
    const { run, head } = await importAt(context, positionals[0], await readOptionsOf(options));
    output.event({ event: 'finished', run: run.id, parameters: run.parameters, head });
    output.line(`Run ${run.id}: ${formatCount(run.parameters)} weights.`);
    const use = run.config.settings.task === 'language' ? `generate ${run.id}` : `predict ${run.id} FILE`;
    output.line(
      head
        ? `Use it: trainyard ${use}; begin with it: trainyard train DATA --from ${run.id}`
        : `Begin with it: trainyard train DATA --from ${run.id}`,
    );
  },
};

async function readOptionsOf(options: OptionValues): Promise<ReadOptions> {
  const length = numberOption(options, 'length', { minimum: 1, whole: true });
  const [architecture, file] = [textOption(options, 'architecture'), textOption(options, 'classes')];
  if (file === undefined) return { architecture, length };
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw unreadable(file, error, 'input.classes', 'Give a text file with one name a line.');
  });
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  return { architecture, length, classes: lines.at(-1) === '' ? lines.slice(0, -1) : lines };
}
