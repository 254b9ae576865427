// `show`: one run with its settings, result, costs and log; or one of its trees.

import { costOf, costWords, electricityOf } from '../../../engine/hardware/bill.ts';
import type { Fact } from '../../../engine/learners/declared/declare.ts';
import { declarationOf } from '../../../engine/learners/declared/registry.ts';
import { isNetwork } from '../../../engine/learners/network/declaration.ts';
import { phases, phaseWord } from '../../../engine/protocol/bill.ts';
import { usualClass } from '../../../engine/explanation/subject.ts';
import { familyWords } from '../../../engine/protocol/family.ts';
import { isCrossValidation, missingFolds } from '../../../engine/protocol/folds.ts';
import { isPretrained } from '../../../engine/protocol/pretrained.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import type { StoreService } from '../../../engine/protocol/store.ts';
import { leftOutText } from '../../../engine/protocol/use.ts';
import { foldsOf } from '../../../engine/runs/cross-validation.ts';
import { refuseMember } from '../../../engine/runs/member-runs.ts';
import { readModelFiles } from '../../../engine/runs/model-files.ts';
import { foldsNow } from '../../../engine/runs/out-of-fold.ts';
import { lookAtTree } from '../../../engine/runs/tree-look.ts';
import { treesOfRun } from '../../../engine/runs/trees.ts';
import { electricityKey } from '../../../engine/settings/electricity.ts';
import { about } from '../about.ts';
import { numberOption, runNumber, textOption, type Command } from '../command.ts';
import { homeFolder } from '../../../engine/system/home-folder.ts';
import { printLeaderboard } from '../leaderboard.ts';
import { printFolds } from '../out-of-fold.ts';
import { formatBytes, formatSeconds, formatTime, type Output } from '../output.ts';
import { openCatalogue } from '../own-catalogue.ts';
import { againstText, foldNumbers, isEnsemble, printMetrics, splitText, timesText, workText } from '../run-text.ts';
import { gainText } from '../tree-gains.ts';
import { printTree } from '../tree-text.ts';
import { wantedClass } from '../wanted-class.ts';
import { runEvent } from './runs.ts';

export const show: Command = {
  ...about.show,
  positionals: [1, 1],
  options: {
    tree: { type: 'string', value: 'K', help: 'draws tree K of a run of trees, from 1, instead' },
    class: { type: 'string', value: 'NAME', help: 'class whose values the leaves of --tree show' },
    metrics: { type: 'boolean', help: 'also every recorded metric point' },
    log: { type: 'boolean', help: 'also what the run said: epochs, checkpoints, device, times' },
  },
  run: async ({ positionals, options, output, services }) => {
    const store = await services.store;
    const run = await store.run({ run: runNumber(positionals[0]) });
    const tree = numberOption(options, 'tree', { minimum: 1, whole: true });
    if (tree !== undefined) {
      refuseMember(run, 'could be drawn');
      const { model, weights } = await readModelFiles(store, run.id);
      const { trees, file } = treesOfRun(model, weights, run.id);
      const wanted = wantedClass(file.output, textOption(options, 'class')) ?? usualClass(file.output);
      const look = lookAtTree(trees, file, tree, wanted);
      output.event({ event: 'tree', run: run.id, ...look });
      if (!output.json) printTree(output, look);
      return;
    }
    output.event(runEvent(run));
    for (const [fold, child] of isCrossValidation(run.config) ? await foldsOf(store, run.id) : []) {
      output.event({ event: 'fold', fold, run: child.id, state: child.state, metrics: child.result?.metrics ?? null });
    }
    if (options.metrics === true) {
      const points = await store.metrics({ run: run.id });
      await output.events(points.map((point) => ({ event: 'metric', ...point })));
    }
    if (!output.json) {
      showRun(output, run);
      if (run.result?.folds) {
        printFolds(output, run.result.folds, await foldNumbers(store, run.id));
        const missing = missingFolds({ of: run.result.folds.of, folds: (await foldsNow(store, run)).folds });
        if (missing !== null && missing !== run.result.doubt) output.line(`! ${missing}`);
      }
      const gain = await gainText(store, run);
      if (gain !== null) output.line(`  gain      ${gain}`);
      for (const [name, value] of billFacts(run)) output.line(`  ${name.padEnd(9)} ${value}`);
      const cost = await costText(run, store, output);
      if (cost !== null) output.line(`  cost      ${cost}`);
    }
    if (options.log !== true) return;
    for (const { time, level, message } of await store.log({ run: run.id })) {
      output.event({ event: 'log', time, level, message });
      output.line(`  ${formatTime(time)}  ${level === 'info' ? '' : `${level}: `}${message}`);
    }
  },
};

function showRun(output: Output, run: RunRecord): void {
  const { config, result } = run;
  output.line(`Run ${run.id}: ${run.name} (${run.state})`);
  const facts: readonly Fact[] = [
    ['dataset', `${run.datasetName} (${run.dataset.slice(0, 12)})`],
    ...declarationOf(config).facts(config, run.parameters),
    ['device', run.threads > 1 ? `${run.device}, ${run.threads} threads` : run.device],
    ...(isPretrained(config) ? [] : dataFacts(run)),
    ['created', formatTime(run.createdAt)],
    ...familyFacts(run),
  ];
  for (const [name, value] of facts) output.line(`  ${name.padEnd(9)} ${value}`);
  if (run.error) output.line(`  error     ${run.error.message} ${run.error.hint}`);
  if (result && isPretrained(config)) output.line(`  result    ${result.remark ?? ''}`);
  else if (result) {
    output.line(`  result    ${result.reason.replace('_', ' ')} after ${workText(run)}, ${timesText(run)}`);
    const { curves, unit } = declarationOf(config);
    if (result.folds) output.line('  scores    means of the folds:');
    else if (result.divergence && result.bestEpoch === 0) output.line('  weights   none');
    else if (!curves || isEnsemble(run)) output.line('  scores');
    else output.line(`  weights   of ${unit.one} ${result.bestEpoch}, the best by loss; their scores:`);
    printMetrics(output, result.metrics);
    printLeaderboard(output, run);
    const against = againstText(run);
    if (against !== null) output.line(`  to beat   ${against}`);
    if (result.doubt) output.line(`  in doubt  ${result.doubt}`);
  }
  if (run.tags.length > 0) output.line(`  tags      ${run.tags.join(', ')}`);
  if (run.notes) output.line(`  notes     ${run.notes}`);
}

/** What became of the rows it learns from. */
function dataFacts(run: RunRecord): readonly Fact[] {
  const left = run.data ? leftOutText(run.data.leftOut) : 'known once its data is prepared';
  return [
    ['split', splitText(run)],
    ['left out', left],
  ];
}

/** What it comes from. */
function familyFacts(run: RunRecord): readonly Fact[] {
  const words = familyWords(run);
  return words === null ? [] : [['family', words]];
}

/** Seconds by phase, and what its process held in memory. */
function billFacts({ progress, config }: RunRecord): readonly Fact[] {
  const bill = progress?.bill;
  if (!bill) return [];
  const spent = phases.flatMap((phase) => {
    const seconds = bill.phases[phase];
    return seconds === undefined ? [] : [`${phaseWord(phase)} ${formatSeconds(seconds)}`];
  });
  const { deviceBytes, peakBytes } = bill;
  const allocated = isNetwork(config) ? 'model and rows' : 'the rows alone';
  const memory = [
    ...(peakBytes === undefined ? [] : [`its process held ${formatBytes(peakBytes)} at most`]),
    ...(deviceBytes === undefined ? [] : [`${allocated} took ${formatBytes(deviceBytes)}`]),
  ];
  return [
    ...(spent.length > 0 ? [['phases', spent.join(', ')] as const] : []),
    ...(memory.length > 0 ? [['memory', memory.join(', ')] as const] : []),
  ];
}

/** What it came to at the person's own electricity; null while nothing is known of it. */
async function costText({ progress }: RunRecord, store: StoreService, output: Output): Promise<string | null> {
  if (!progress?.bill) return null;
  const electricity = electricityOf(await store.getSetting({ key: electricityKey }));
  const cost = costOf(progress.bill, electricity, openCatalogue(homeFolder(), output).catalogue);
  if (cost === null) return `the power of ${progress.bill.deviceName ?? 'its GPU'} is not known`;
  return `${costWords(cost)}. ${cost.how}`;
}
