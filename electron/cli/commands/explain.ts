// `explain`: which columns matter to a finished run, how its answer moves with them, what each did for one row, and what its curves say.

import { usualRows } from '../../../engine/learners/declared/compared-rows.ts';
import { usualShuffles } from '../../../engine/explanation/importance.ts';
import { judgedBy } from '../../../engine/explanation/explain.ts';
import { beginningOf } from '../../../engine/protocol/beginning.ts';
import { checkpointsOf } from '../../../engine/runs/checkpoints.ts';
import { columnFindings, curveFindings, keepingWeights, type Curve } from '../../../engine/explanation/findings.ts';
import type { Contributions } from '../../../engine/protocol/explanation.ts';
import { CancelledError } from '../../../engine/protocol/errors.ts';
import type { MetricPoint } from '../../../engine/protocol/runs.ts';
import { parseRunJson } from '../../../engine/protocol/model-file.ts';
import { readModelFiles } from '../../../engine/runs/model-files.ts';
import { prepareExplanation } from '../../../engine/runs/explain.ts';
import { createExplainer } from '../../hosts/explainer.ts';
import { openCpu } from '../../hosts/trusted-cpu.ts';
import { about } from '../about.ts';
import { choiceOption, numberOption, runNumber, textOption, type Command } from '../command.ts';
import { wantedClass } from '../wanted-class.ts';
import { withProgress } from '../import.ts';
import { eventOf, printDependence, printFindings, printImportance, printRow, rowEvent } from '../explanation.ts';
import { explainPictures } from '../explain-pictures.ts';
import { explainRows, refuseRowOptions, rowOptions } from '../explain-rows.ts';
import { formatCount, formatSeconds } from '../output.ts';

export const explain: Command = {
  ...about.explain,
  positionals: [1, 2],
  options: {
    split: {
      type: 'string',
      value: 'NAME',
      help: 'train, validation (default; test where the run has no validation rows), test or, of the best of all, out-of-fold; a cross-validation is always explained out of fold; each look at the test split is counted',
    },
    row: { type: 'string', value: 'N', help: 'row of the dataset, from 1, whose answer is explained column by column' },
    class: {
      type: 'string',
      value: 'NAME',
      help: 'class whose probability is explained (default the second of two, else the first)',
    },
    group: { type: 'boolean', help: 'shuffle columns that say nearly the same together, as one' },
    shuffles: { type: 'string', value: 'N', help: `times each column is shuffled (default ${usualShuffles})` },
    ...rowOptions,
  },
  run: async (context) => {
    const { positionals, options, output, services, interruption } = context;
    const run = runNumber(positionals[0]);
    if (positionals.length > 1) {
      const { preprocessing } = await readModelFiles(await services.store, run);
      const kept = parseRunJson(preprocessing, run, 'preprocessing.json');
      return isOfPictures(kept) ? explainPictures(context, kept) : explainRows(context);
    }
    refuseRowOptions(options);
    const asked = choiceOption(options, 'split', ['train', 'validation', 'test', 'out-of-fold']);
    const row = numberOption(options, 'row', { minimum: 1, whole: true });
    const shuffles = numberOption(options, 'shuffles', { minimum: 2, maximum: 1000, whole: true });
    const store = await services.store;
    const record = await store.run({ run });
    const { name, config, result } = record;
    const split = asked === 'out-of-fold' ? 'out of fold' : (asked ?? usualRows(record));
    const points = await store.metrics({ run, series: ['train_loss', 'val_loss'] });
    const { data } = services;
    const explainer = createExplainer(Promise.resolve(data), () => openCpu({ home: services.home }));
    const { request, warnings } = await withProgress(data, context, (job) =>
      prepareExplanation({ store, data }, { job, run, split }),
    );
    for (const { message } of warnings) output.note(`! ${message}`);
    const wanted = wantedClass(request.data.output, textOption(options, 'class'));
    const stop = explainer.onProgress(({ progress: { stage, share, secondsLeft } }) => {
      output.bar(share ?? 0, `${stage}${secondsLeft === null ? '' : `, ${formatSeconds(secondsLeft)} left`}`);
    });
    const deafen = interruption.listen(() => void explainer.cancel({ job: request.job }));
    try {
      const found = await explainer.explain({ ...request, wanted, shuffles, together: options.group === true });
      const why = row === undefined ? null : await unlessCancelled(explainer.row({ ...request, wanted, row: row - 1 }));
      output.clearBar();
      output.line(
        `Run ${run}: ${name}, ${split === 'out of fold' ? split : `${split} split`}, ${formatCount(found.importance.of)} rows, in ${formatSeconds(found.seconds)}`,
      );
      printImportance(output, found, request.data.output);
      for (const dependence of found.dependence) printDependence(output, found, dependence, request.data.output);
      if (why) printRow(output, found, why, request.data.output);
      const score = judgedBy(request.data, found.importance.scores);
      const findings = [
        ...curveFindings({
          config,
          result,
          train: curveOf(points, 'train_loss'),
          validation: curveOf(points, 'val_loss'),
        }),
        ...columnFindings(config, found.columns, found.importance, score),
      ];
      const begun = await beginningOf(
        { run: (of) => store.run(of), checkpoints: (of) => checkpointsOf(store, of.run) },
        record,
      );
      const offered = begun !== undefined ? keepingWeights(findings, config) : findings;
      printFindings(output, offered);
      output.event({
        event: 'explanation',
        run,
        split,
        ...eventOf(found, request.data.output),
        findings: offered.map(({ action, ...finding }) => ({ ...finding, try: action?.label ?? null })),
        ...(why ? { row: rowEvent(found, why) } : {}),
      });
    } finally {
      stop();
      deafen();
      await data.release({ handle: request.data.handle });
    }
    interruption.check();
  },
};

/** Whether what a run keeps as `preprocessing.json` is of pictures. */
const isOfPictures = (kept: unknown): boolean => typeof kept === 'object' && kept !== null && 'kind' in kept;

/** What was found before is printed still. */
const unlessCancelled = (row: Promise<Contributions>): Promise<Contributions | null> =>
  row.catch((error: unknown) => {
    if (error instanceof CancelledError) return null;
    throw error;
  });

const curveOf = (points: readonly MetricPoint[], series: string): Curve => {
  const own = points.filter((point) => point.series === series);
  return { epoch: own.map(({ epoch }) => epoch), value: own.map(({ value }) => value) };
};
