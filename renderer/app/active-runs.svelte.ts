// Runs that are not finished, for the sidebar, the status bar and announcements; and how many runs there are in all.

import { SvelteMap } from 'svelte/reactivity';
import { declarationOf } from '../../engine/learners/declared/registry.ts';
import type { AppService } from '../../engine/protocol/app.ts';
import { inTurn } from '../../engine/protocol/queue.ts';
import type { RecordField } from '../../engine/protocol/store.ts';
import type { RunProgress, RunRecord, RunState } from '../../engine/protocol/runs.ts';
import type { Announcer } from './announcer.svelte.ts';
import { plain } from '../lib/format.ts';
import { throttle } from '../lib/throttle.ts';

/** What is asked of each. */
const fields = [
  'id',
  'name',
  'state',
  'device',
  'progress',
  'error',
  'queue',
] as const satisfies readonly RecordField[];
type ActiveRun = Pick<RunRecord, (typeof fields)[number]>;

const unfinished: readonly RunState[] = ['running', 'paused', 'queued'];
const stateWords: Readonly<Record<RunState, string>> = {
  queued: 'waits in the queue',
  running: 'is running',
  paused: 'is paused',
  completed: 'is complete',
  stopped: 'was stopped',
  diverged: 'diverged',
  failed: 'failed',
  interrupted: 'was interrupted',
};

export class ActiveRuns {
  list: readonly ActiveRun[] = $state.raw([]);
  total: number = $state(0);
  /** As reported; of a run that another process trains the record tells. */
  readonly progress = new SvelteMap<number, RunProgress>();
  readonly #service: AppService;
  readonly #announcer: Announcer;
  readonly #units = new Map<number, Promise<string>>();

  constructor(service: AppService, announcer: Announcer) {
    this.#service = service;
    this.#announcer = announcer;
    const refresh = throttle(() => void this.refresh(), 250);
    // How far runs have come is reported.
    service.onRunsChanged(({ runs, trained }) => {
      if (runs.length > trained.length) refresh();
    });
    service.onReport(({ run, progress }) => {
      this.progress.set(run, progress);
      this.#announceProgress(run, progress);
    });
  }

  async refresh(): Promise<void> {
    const [active, all] = await Promise.all([
      this.#service.runs({
        states: unfinished,
        withoutFolds: true,
        sort: { by: 'createdAt', descending: false },
        limit: 50,
        fields,
      }),
      this.#service.runs({ limit: 0, withoutFolds: true, fields: ['id'] }),
    ]);
    this.total = all.total;
    const before = this.list;
    const waits = ({ state }: ActiveRun): boolean => state === 'queued';
    this.list = [...active.runs.filter((run) => !waits(run)), ...inTurn(active.runs.filter(waits))];
    await this.#announceChanges(before, active.runs);
  }

  /** 0 … 1, or null before the first report. */
  share(run: ActiveRun): number | null {
    const progress = this.progress.get(run.id) ?? run.progress;
    return progress && progress.steps > 0 ? progress.step / progress.steps : null;
  }

  async #announceChanges(before: readonly ActiveRun[], now: readonly ActiveRun[]): Promise<void> {
    for (const old of before) {
      const current =
        now.find((run) => run.id === old.id) ?? (await this.#service.run({ run: old.id }).catch(() => null));
      if (!current || current.state === old.state) continue;
      const text = `${current.name} ${stateWords[current.state]}.`;
      if (current.state === 'failed' || current.state === 'diverged')
        this.#announcer.alert(`${text} ${current.error?.message ?? ''}`);
      else this.#announcer.say(text);
      if (!unfinished.includes(current.state)) this.progress.delete(old.id);
    }
  }

  #announceProgress(id: number, { epoch, epochs, loss }: RunProgress): void {
    const run = this.list.find((candidate) => candidate.id === id);
    if (!run) return;
    void this.#announcer.progress(async () => {
      const so = loss === null ? '' : `, loss ${plain(loss.toPrecision(3))}`;
      return `${run.name}: ${await this.#unitOf(id)} ${Math.floor(epoch)} of ${epochs}${so}.`;
    });
  }

  /** What a run counts its way by: `epoch`, `trial`, `tree`; asked for once. */
  #unitOf(id: number): Promise<string> {
    const known = this.#units.get(id);
    if (known !== undefined) return known;
    const asked = this.#service.run({ run: id }).then(
      ({ config }) => declarationOf(config).unit.one,
      () => 'step',
    );
    this.#units.set(id, asked);
    return asked;
  }
}
