// Words for what a run is, has and did, the same in every view.

import { deadlineText } from '../../engine/protocol/deadline.ts';
import { declarationOf } from '../../engine/learners/declared/registry.ts';
import { ownValue } from '../../engine/protocol/own.ts';
import type { RunRecord, RunState } from '../../engine/protocol/runs.ts';
import { visible } from '../../engine/protocol/visible.ts';
import { fixed, plural, sentence } from './format.ts';

const states: Readonly<Record<RunState, string>> = {
  queued: 'Queued',
  running: 'Running',
  paused: 'Paused',
  completed: 'Completed',
  stopped: 'Stopped',
  diverged: 'Diverged',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

export const allStates = Object.keys(states) as RunState[];

/** Name and number: for what is told without a look, where two runs may have one name. */
export function numbered({ name, id }: Pick<RunRecord, 'name' | 'id'>): string {
  return `${visible(name)} (run ${id})`;
}

export function stateName(state: RunState): string {
  return states[state];
}

export function stateWord(run: Pick<RunRecord, 'state' | 'error' | 'result'>): string {
  if (run.state === 'failed' && /memory/i.test(`${run.error?.code ?? ''}`)) return 'Out of memory';
  if (run.state === 'completed' && run.result?.doubt) return 'In doubt';
  return states[run.state];
}

/** "Medium MLP", or "Own model" for one made by hand. */
export function modelName({ config }: Pick<RunRecord, 'config'>): string {
  return declarationOf(config).modelTitle(config);
}

/** A language model: it writes on from a text, and answers no rows. */
export function writes({ config, best }: Pick<RunRecord, 'config' | 'best'>): boolean {
  return config.settings.task === 'language' || Object.hasOwn(best, 'val_bits_per_byte');
}

export function isLive(run: Pick<RunRecord, 'state'>): boolean {
  return run.state === 'running' || run.state === 'paused' || run.state === 'queued';
}

/** It can go on where it was; one that diverged would only do so again. */
export function canResume(run: Pick<RunRecord, 'state'>): boolean {
  return run.state === 'paused' || (!isLive(run) && run.state !== 'completed' && run.state !== 'diverged');
}

/** There are weights to predict with: its own, or those of the folds that stand. */
export function hasModel({
  state,
  result,
  hasCheckpoint,
}: Pick<RunRecord, 'state' | 'result' | 'hasCheckpoint'>): boolean {
  // A search that ended before a trial was completed has kept nothing.
  if (result?.search) return result.search.best !== null;
  if (result?.folds) return result.folds.folds.some(({ problem }) => problem === null);
  return state === 'diverged' ? (result?.bestEpoch ?? 0) > 0 : result !== null || hasCheckpoint;
}

/** Why a run does not go to the trash by itself, or with these; undefined: it may. */
export function partOf(
  { relation, parent }: Pick<RunRecord, 'relation' | 'parent'>,
  others?: ReadonlySet<number>,
): string | undefined {
  if (relation !== 'fold' || parent === null || others?.has(parent)) return undefined;
  return `It is a part of run ${parent} and goes with it`;
}

/** Tells weights apart: a run that goes on or is trained again has others. */
export const weightsKey = ({ id, state, endedAt, result }: RunRecord): string =>
  `${id}/${state}/${endedAt}/${result?.bestEpoch}`;

/** How a run ended or stands, where its state alone does not say it: "Stopped early at epoch 55 of 100, best 45". */
export function endText({ state, result, config }: Pick<RunRecord, 'state' | 'result' | 'config'>): string | null {
  if (result === null || result.reason === 'stopped' || (state !== 'completed' && state !== 'diverged')) return null;
  const { folds, deadline } = result;
  const timed = deadline ? deadlineText(deadline, declarationOf(config).unit) : null;
  if (result.remark !== undefined) return sentence(timed === null ? result.remark : `${result.remark}. ${timed}`);
  if (timed !== null && result.reason === 'completed') return timed;
  if (folds) {
    const standing = folds.folds.filter(({ problem }) => problem === null).length;
    return standing === folds.of ? `All ${folds.of} folds` : `${standing} of ${folds.of} folds`;
  }
  const { epochs, bestEpoch, divergence } = result;
  const { unit, units } = declarationOf(config);
  const best = bestEpoch > 0 ? `, best ${fixed(bestEpoch)}` : '';
  if (divergence) {
    return `Diverged at step ${fixed(divergence.step)}${bestEpoch > 0 ? `, best epoch ${fixed(bestEpoch)}` : ''}`;
  }
  return result.reason === 'early_stopped'
    ? `Stopped early at ${unit.one} ${fixed(epochs)} of ${fixed(units(config))}${best}`
    : `All ${plural(epochs, unit.one, unit.many)}${best}`;
}

/** Seconds at work from start to end: preparing, training, validating, final scores; pauses are left out. */
export function elapsedOf({ progress }: Pick<RunRecord, 'progress'>): number | null {
  return progress?.secondsElapsed ?? null;
}

/** Seconds of training steps alone. */
export function trainingSecondsOf({ result, progress }: Pick<RunRecord, 'result' | 'progress'>): number | null {
  return result?.seconds ?? progress?.secondsTraining ?? null;
}

/** Rows trained on a second of training; null: nobody has measured it, as of a search or a best of all. */
export function rowsPerSecond({ result, progress }: Pick<RunRecord, 'result' | 'progress'>): number | null {
  return (result?.examplesPerSecond ?? progress?.examplesPerSecond) || null;
}

/** Of a run with a scaled loss (mixed16): the steps skipped so far, beside the scale; null for others. */
export function skippedFigure(last: Readonly<Record<string, number>>): readonly [string, string, string] | null {
  const [skipped, scale] = ['skipped_steps', 'loss_scale'].map((name) => ownValue(last, name));
  if (skipped === undefined) return null;
  return ['Skipped steps', fixed(skipped), scale === undefined ? '' : `loss × ${fixed(scale)}`];
}
