// `search`: many trainings of one learner with other settings each, and the settings that predict best.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import {
  isSearch,
  labelIn,
  ready,
  searchFields,
  spaceOf,
  type SearchConfig,
} from '../../../engine/learners/search/declaration.ts';
import { countChosen, mostChosen } from '../../../engine/learners/declared/chosen-members.ts';
import { ensembleConfig, ensembleName } from '../../../engine/learners/declared/search-ensemble.ts';
import { InputError } from '../../../engine/protocol/errors.ts';
import type { RunConfig, RunRecord } from '../../../engine/protocol/runs.ts';
import { isBetter, type SearchResult, type Trial, type TrialSettings } from '../../../engine/protocol/search.ts';
import { runFields } from '../../../engine/settings/run.ts';
import { about } from '../about.ts';
import { askedRun } from '../asked-run.ts';
import {
  numberOption,
  runNumber,
  textOption,
  type Command,
  type CommandContext,
  type OptionValues,
} from '../command.ts';
import { readOptionDefs } from '../import.ts';
import { unreadable } from '../input-file.ts';
import { counted, formatNumber, type Output } from '../output.ts';
import { queueOptions, queueWish, untilOption } from '../queue-options.ts';
import { chosenByFlags, flagsOf } from '../setting-flags.ts';
import { dataOptions } from '../training-options.ts';
import { follow, putIntoQueue, refuseUnfinished, type Told } from './train.ts';

const { seed, threads } = runFields;

export const search: Command = {
  ...about.search,
  positionals: [0, 1],
  options: {
    ...flagsOf(searchFields),
    space: {
      type: 'string',
      value: 'FILE.json',
      path: true,
      help: 'the settings to choose, instead of the ready-made ones of the learner',
    },
    folds: { type: 'string', value: 'N', help: 'parts of the rows that validate in turn (default: as many as pay)' },
    until: { type: 'string', value: 'TIME', help: 'be done by this time, 7:00 or 2026-12-24T07:00' },
    ...dataOptions,
    ...flagsOf({ seed, threads }),
    name: { type: 'string', value: 'TEXT', help: 'name of the search' },
    resume: { type: 'string', value: 'ID', help: 'go on with a search that was stopped or killed' },
    ensemble: {
      type: 'string',
      value: 'K',
      help: 'then train the settings of its K best trials as one ensemble; with --resume also of a search that is done',
    },
    ...queueOptions,
    ...readOptionDefs,
  },
  run: async (context) => {
    const { positionals, options } = context;
    const resume = textOption(options, 'resume');
    if (resume !== undefined) return resumeSearch(context, runNumber(resume));
    if (positionals.length === 0) {
      throw new InputError(
        'usage.arguments',
        'search needs a file.',
        'trainyard search data.csv --target NAME, or --resume ID.',
      );
    }
    const until = untilOption(options);
    const best = ensembleOption(options);
    const chosen = await searchOptions(options);
    const { info, config } = await askedRun({ ...context, options: { ...options, ...chosen, model: 'search' } });
    const own = withSpace(config as SearchConfig, await spaceOption(options));
    const asked = until === undefined ? own : { ...own, until };
    const name = textOption(options, 'name') ?? `${path.parse(info.source).name} search`;
    const queue = queueWish(options);
    if (queue) return void (await putIntoQueue(context, (manager) => manager.start({ name, config: asked, queue })));
    const run = await follow(context, (manager) => manager.start({ name, config: asked }), told(context.output, asked));
    if (best !== undefined) await ensembleOf(context, run, best);
  },
};

async function resumeSearch(context: CommandContext, run: number): Promise<void> {
  const until = untilOption(context.options);
  const best = ensembleOption(context.options);
  const { config, state } = await (await context.services.store).run({ run });
  if (!isSearch(config)) {
    throw new InputError(
      'input.search',
      `Run ${run} is no search.`,
      `Resume it with \`trainyard train --resume ${run}\`.`,
    );
  }
  if (best === undefined || state !== 'completed')
    await follow(context, (manager) => manager.resume({ run, until }), told(context.output, config));
  if (best !== undefined) await ensembleOf(context, run, best);
}

/** How many trials an ensemble is of. */
function ensembleOption(options: OptionValues): number | undefined {
  const count = numberOption(options, 'ensemble', { minimum: 2, maximum: mostChosen, whole: true });
  if (count === undefined || !queueWish(options)) return count;
  throw new InputError(
    'usage.option',
    '--ensemble and --queue do not go together: which trials are the best is known when the search is done.',
    'Leave --ensemble out, and ask for it then: trainyard search --resume ID --ensemble K.',
  );
}

/** Trains the settings of the best trials as one ensemble, unless somebody has stopped the search meanwhile. */
async function ensembleOf(context: CommandContext, search: number, count: number): Promise<void> {
  const { interruption, output, services } = context;
  if (interruption.cause !== null) return;
  const store = await services.store;
  const { name, config } = await store.run({ run: search });
  if (!isSearch(config)) throw new RangeError('it was a search');
  const ensemble = ensembleConfig(config, await store.trials({ run: search }), count);
  const found = countChosen(ensemble.auto);
  if (found < count) output.note(`Only ${found} trials with settings of their own were completed: these are taken.`);
  const request = { name: ensembleName(name, found), config: ensemble, advisedBy: search };
  await follow(context, (manager) => manager.start(request));
}

/** Flags as they are meant together. Throws InputError. */
async function searchOptions(options: OptionValues): Promise<OptionValues> {
  // What is refused is refused before anything is read.
  const { of = searchFields.of.default } = chosenByFlags(searchFields, options);
  spaceOf({ of, space: await spaceOption(options) });
  numberOption(options, 'folds', { minimum: 2, maximum: searchFields.parts.maximum, whole: true });
  return limited(options);
}

/** Who gives a time and no number of trials means the time alone. */
const limited = (options: OptionValues): OptionValues => ({
  ...(options.minutes === undefined ? {} : { minutes: options.minutes }),
  ...((options.minutes ?? options.until) !== undefined && options.trials === undefined ? { trials: '0' } : {}),
});

async function spaceOption(options: OptionValues): Promise<string> {
  const file = textOption(options, 'space');
  if (file === undefined) return ready;
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw unreadable(file, error, 'input.space', 'Name a .json file with the settings to choose.');
  });
  if (text.length <= searchFields.space.longest) return text;
  throw new InputError(
    'input.space',
    `${file} is too long for a space.`,
    'Name a .json file with the settings to choose.',
  );
}

const withSpace = (config: SearchConfig, space: string): SearchConfig => ({
  ...config,
  search: { ...config.search, space },
});

/** A trial as an event, then the end. */
function told(output: Output, config: RunConfig): Told {
  let best: Trial | null = null;
  return {
    listen: (manager) =>
      manager.onTrials(({ run, trials }) => {
        for (const trial of trials) {
          output.event(trialEvent(run, trial));
          if (!isBetter(trial, best)) continue;
          best = trial;
          output.line(
            `trial ${trial.trial}: ${formatNumber(trial.score!)} with ${settingsText(config, trial.settings)}`,
          );
        }
      }),
    tell: (_, ended) => report(output, ended),
  };
}

/** Trials are rows of the search, which is the run that has them. */
const trialEvent = (
  run: number,
  { trial, settings, score, state, note, after, steps, seconds, training }: Trial,
): object => ({
  ...{ event: 'trial', trial, run, settings, score, stopped: state === 'stopped', state },
  ...(note === '' ? {} : { note }),
  ...(after === undefined ? {} : { after }),
  ...{ steps, seconds, training_seconds: training },
});

function settingsText(config: RunConfig, settings: TrialSettings): string {
  return Object.entries(settings)
    .map(([name, value]) => `${isSearch(config) ? labelIn(config.search, name).toLowerCase() : name} ${value}`)
    .join(', ');
}

function report(output: Output, run: RunRecord): void {
  refuseUnfinished(run);
  const { search: found } = run.result;
  if (!found) throw new RangeError('a search has trials');
  const { best, trials, stopped, failed, ended, metric, luck, steps, fullSteps, overhead, importance } = found;
  output.event({
    ...{ event: 'finished', search: run.id },
    best: best && { trial: best.trial, run: run.id, score: best.score, settings: best.settings },
    ...{ trials, stopped, failed, ended, metric, luck, steps, full_steps: fullSteps },
    ...{ overhead_seconds: overhead, importance, metrics: run.result.metrics },
    elapsed_seconds: run.progress?.secondsElapsed ?? null,
  });
  output.line(
    `Search ${run.id} ${endings[ended]}: ${counted(trials, 'trial')}, ${stopped} stopped early, ${failed} failed`,
  );
  if (best === null) return;
  output.line(`  best: trial ${best.trial}, ${metric} ${formatNumber(best.score)} on rows it did not learn from`);
  output.line(`  ${settingsText(run.config, best.settings)}`);
  if (best.cut !== undefined) output.line(`  ${best.cut}: with more time it is trained and scored to its end`);
  if (luck !== null && luck > 0) {
    output.line(
      `  chosen by these rows it looks ${formatNumber(luck)} better than it is: expect ${formatNumber(best.score + luck)} on new ones`,
    );
  }
  if (importance) {
    const single = Object.entries(importance.single).sort(([, one], [, other]) => other - one);
    const words = single.map(([name, share]) => `${name} ${Math.round(100 * share)} %`);
    output.line(`  what matters: ${words.join(', ')}`);
  }
  output.line(`  the test rows were not looked at: trainyard evaluate ${run.id} --split test`);
}

const endings: Readonly<Record<SearchResult['ended'], string>> = {
  trials: 'done',
  minutes: 'done, its time is over',
  exhausted: 'done, there is nothing new to try',
  stopped: 'stopped',
};
