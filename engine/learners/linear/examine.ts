// What a linear model lets be examined: where its search starts, and a trial on some rows. It has no layers and no rate to look at.

import type { Check, Examination, Pace, SampledRows } from '../../doctor/check.ts';
import { judgeStart, startTheory } from '../../doctor/start.ts';
import { lossRules, resolveLoss } from '../../model/losses.ts';
import { classWeights } from '../../train/session-sizes.ts';
import type { Examined } from '../learner.ts';
import { plainLoss } from '../scoring.ts';
import { gridOf, outputsOf, type LinearConfig } from './declaration.ts';
import { readDesign } from './design.ts';
import { outputsFor } from './outputs.ts';
import { constantWeights, searchPenalty, type PathProblem, type Search } from './path.ts';

/** The penalty of a trial where the run looks for one: trying them is what takes the time. */
const usualPenalty = 1;

export function examineLinear(job: Examined<LinearConfig>): Examination {
  const { config, data, sample } = job;
  const start: Check = {
    finds: ['start'],
    seconds: 0.3,
    async run(pace) {
      const problem = await problemOf(config, sample, pace);
      const { train, design } = problem;
      const targets = design.targets.subarray(0, train);
      const weights = problem.classWeights as Float32Array | null;
      const outputs = outputsFor(design, 0, train, constantWeights(problem));
      const loss = lossRules[resolveLoss('auto', data.output)].value(outputs, targets, plainLoss, weights);
      const theory = constantTheory(problem, targets);
      return [judgeStart(loss, theory, train)];
    },
  };
  return {
    checks: [start],
    async trial(rows, _limit, pace) {
      const problem = await problemOf(config, rows, pace);
      const penalty = config.linear.penalty > 0 ? config.linear.penalty : usualPenalty;
      const search: Search = { tried: [], best: constantWeights(problem), chosen: -1 };
      const slices = searchPenalty({ ...problem, penalty }, search);
      while (!slices.next().done) await pace.breathe();
      const { train, validation } = problem;
      const outputs = outputsFor(problem.design, train, train + validation, search.best);
      return { outputs, losses: search.tried.map(({ loss }) => loss) };
    },
  };
}

async function problemOf(config: LinearConfig, { data, shard }: SampledRows, pace: Pace): Promise<PathProblem> {
  const rows = { data, readShard: async () => shard, dataBudget: Infinity };
  const design = await readDesign(rows, gridOf(data.input), pace.breathe);
  const weights = classWeights(config.linear, data.classCounts, outputsOf(data.output));
  const { train, validation } = data.counts;
  return { design, train, validation, output: data.output, classWeights: weights, penalty: config.linear.penalty };
}

/** The best answer that is the same for every row: the entropy of the classes, the variance of values. */
function constantTheory({ output, classWeights: weights }: PathProblem, targets: Float32Array) {
  if (output.kind === 'value') return startTheory(output, plainLoss, targets, 1, null);
  const shares = new Float64Array(output.classes.length);
  for (const target of targets) shares[target] += weights?.[target] ?? 1;
  const total = shares.reduce((sum, share) => sum + share, 0);
  const entropy = shares.reduce((sum, share) => (share > 0 ? sum - (share / total) * Math.log(share / total) : sum), 0);
  return { loss: entropy, words: `entropy of the classes${weights ? ', weighed' : ''}` };
}
