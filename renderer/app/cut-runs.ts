// What is said of runs that were cut short with the process that trained them: that they go on by themselves, and how one stops that.

import type { AppService } from '../../engine/protocol/app.ts';
import { cutNoteLife as life, mostCuts } from '../../engine/protocol/queue.ts';
import { finalStates, type RunRecord } from '../../engine/protocol/runs.ts';
import { failureOf, type Failure } from './failure.ts';
import type { Toasts } from './toasts.svelte.ts';

interface Teller {
  readonly service: AppService;
  readonly toasts: Pick<Toasts, 'show' | 'dismiss'>;
  readonly router: { go(address: string): void };
  failure: Failure | null;
}

const why = 'the program that trained it ended before its time';

/** Those that nobody has removed meanwhile. */
async function stillThere(service: AppService, runs: readonly number[]): Promise<readonly RunRecord[]> {
  const found = await Promise.all(runs.map((run) => service.run({ run }).catch(() => null)));
  return found.flatMap((run) => (run === null || run.deletedAt !== null ? [] : [run]));
}

/** Tells of those of which nobody has been told; `anew`: the page begins. */
export async function tellCut(app: Teller, anew = false): Promise<void> {
  const { service, toasts, router } = app;
  const cut = await service.takeCut({ anew });
  const left = await stillThere(service, cut.left);
  const goOn = (await stillThere(service, cut.goOn)).filter(({ state }) => !finalStates.has(state));
  // One note, however many they are: the window shows three at most.
  if (left.length > 0) {
    const [one, more] = [left.length === 1, `${mostCuts} times in a row without coming farther`];
    const text = one
      ? `${left[0].name} was cut short ${more}: it does not go on by itself.`
      : `${left.length} runs were cut short ${more}: they do not go on by themselves.`;
    const address = one ? `#run/${left[0].id}` : '#runs';
    toasts.show(text, { action: { label: 'Show', run: () => router.go(address) }, life });
  }
  if (goOn.length === 0) return;
  const paused = await service.queuePaused();
  if (goOn.length > 1) {
    const what = paused ? 'wait first in the queue, which is paused' : 'go on from where they were';
    const text = `${goOn.length} runs ${what}: the program that trained them ended before its time.`;
    toasts.show(text, { action: { label: 'Show', run: () => router.go('#queue') }, life });
    return;
  }
  const [{ id: run, name }] = goOn;
  const stop = async (): Promise<void> => {
    try {
      await service.stopRun({ run });
    } catch (error) {
      app.failure = failureOf(error);
    }
  };
  const what = paused ? 'waits first in the queue, which is paused' : 'goes on from where it was';
  const note = toasts.show(`${name} ${what}: ${why}.`, { action: { label: 'Stop', run: () => void stop() }, life });
  // What it offers ends with its run.
  const look = async (): Promise<void> => {
    const [found] = await stillThere(service, [run]);
    if (found && !finalStates.has(found.state)) return;
    toasts.dismiss(note);
    stopListening();
  };
  const stopListening = service.onRunsChanged(({ runs, trained }) => {
    if (runs.includes(run) && !trained.includes(run)) void look();
  });
  await look();
}
