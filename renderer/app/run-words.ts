// Words for what a run is, has and did, the same in every view.

import { presetNamed } from '../../engine/model/presets.ts';
import type { RunRecord, RunState } from '../../engine/protocol/runs.ts';

const states: Readonly<Record<RunState, string>> = {
  queued: 'Queued',
  running: 'Running',
  paused: 'Paused',
  completed: 'Completed',
  stopped: 'Stopped',
  failed: 'Failed',
  interrupted: 'Interrupted',
};

export const allStates = Object.keys(states) as RunState[];

export function stateName(state: RunState): string {
  return states[state];
}

export function stateWord(run: Pick<RunRecord, 'state' | 'error' | 'result'>): string {
  if (run.state === 'failed' && /memory/i.test(`${run.error?.code ?? ''}`)) return 'Out of memory';
  if (run.state === 'completed' && run.result?.doubt) return 'In doubt';
  return states[run.state];
}

/** "Medium MLP", or "Own model" for one made by hand. */
export function modelName(run: Pick<RunRecord, 'config'>): string {
  const preset = run.config.model.preset;
  if (!preset) return 'Own model';
  return presetNamed(preset)?.title ?? preset;
}

export function isLive(run: Pick<RunRecord, 'state'>): boolean {
  return run.state === 'running' || run.state === 'paused' || run.state === 'queued';
}

/** Seconds of training: from the result, else from the last report. */
export function secondsOf(run: RunRecord): number | null {
  return run.result?.seconds ?? run.progress?.secondsElapsed ?? null;
}

export function examplesPerSecond(run: RunRecord): number | null {
  return run.result?.examplesPerSecond ?? run.progress?.examplesPerSecond ?? null;
}
