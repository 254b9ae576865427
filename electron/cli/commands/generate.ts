// `generate`: text that a language model writes, token by token.

import { modelFileWarnings, readModelFilesOf } from '../../../engine/runs/model-files.ts';
import { noWriter, TextWriter } from '../../../engine/serving/text-writer.ts';
import { generationFields } from '../../../engine/settings/generation.ts';
import { defaultsOf } from '../../../engine/settings/values.ts';
import { openCpu } from '../../hosts/trusted-cpu.ts';
import { about } from '../about.ts';
import { runNumber, textOption, type Command } from '../command.ts';
import { chosenByFlags, flagsOf } from '../setting-flags.ts';
import { checkpointChoice, checkpointOption } from '../transfer-options.ts';

export const generateCommand: Command = {
  ...about.generate,
  positionals: [1, 1],
  options: {
    prompt: { type: 'string', value: 'TEXT', help: 'what it writes on from (default: the beginning of a line)' },
    ...flagsOf(generationFields),
    checkpoint: { ...checkpointOption, help: `${checkpointOption.help} (default best)` },
  },
  run: async ({ positionals, options, output, services, interruption }) => {
    const run = runNumber(positionals[0]);
    const settings = { ...defaultsOf(generationFields, {}), ...chosenByFlags(generationFields, options) };
    const store = await services.store;
    await store.run({ run });
    const files = await readModelFilesOf(store, run, checkpointChoice(options));
    const backend = (): ReturnType<typeof openCpu> => openCpu({ home: services.home });
    const writer = await TextWriter.open({ run, ...files }, backend);
    if (writer === null) throw noWriter(run);
    for (const { message } of await modelFileWarnings(store, run)) output.note(`! ${message}`);
    const prompt = textOption(options, 'prompt') ?? '';
    try {
      let text = '';
      const unread = writer.unread(prompt);
      if (unread !== null) output.note(`! ${unread}`);
      output.text(prompt);
      for await (const piece of writer.write({ ...settings, prompt })) {
        interruption.check();
        text += piece;
        output.text(piece);
        output.event({ event: 'text', text: piece });
      }
      output.text('\n');
      output.event({ event: 'finished', run, prompt, text, ...settings });
    } finally {
      await writer.close();
    }
  },
};
