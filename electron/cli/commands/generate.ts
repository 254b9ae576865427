// `generate`: text that a language model writes, token by token.

import { languageOf } from '../../../engine/text/language.ts';
import { lazyBackend } from '../../../engine/learners/lazy-backend.ts';
import { readWriter } from '../../../engine/learners/predict.ts';
import { parsePreprocessing } from '../../../engine/data/preprocess/recipe.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import { parseRunJson } from '../../../engine/protocol/model-file.ts';
import { modelFileWarnings, readModelFilesOf } from '../../../engine/runs/model-files.ts';
import { dataOf } from '../../../engine/serving/served-model.ts';
import { generationFields } from '../../../engine/settings/generation.ts';
import { defaultsOf } from '../../../engine/settings/values.ts';
import { generate } from '../../../engine/train/generate.ts';
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
    const trained = readWriter(files.model, files.weights, run);
    const preprocessing = parsePreprocessing(parseRunJson(files.preprocessing, run, 'preprocessing.json'));
    const language = languageOf(preprocessing);
    if (language === null || !trained.resident) {
      throw new InputError(
        'run.no_language',
        `Run ${run} is no language model: there is nothing it could write.`,
        'Train one on a text: trainyard train book.txt',
      );
    }
    for (const { message } of await modelFileWarnings(store, run)) output.note(`! ${message}`);
    const backend = lazyBackend(() => openCpu({ home: services.home }));
    const model = await trained.resident(dataOf(preprocessing), backend.open);
    const prompt = textOption(options, 'prompt') ?? '';
    try {
      let text = '';
      output.text(prompt);
      for await (const piece of generate((codes) => model.outputs(codes, 1), language, { ...settings, prompt })) {
        interruption.check();
        text += piece;
        output.text(piece);
        output.event({ event: 'text', text: piece });
      }
      output.text('\n');
      output.event({ event: 'finished', run, prompt, text, ...settings });
    } finally {
      model.close();
      await backend.close();
    }
  },
};
