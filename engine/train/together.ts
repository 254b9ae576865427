// A run over several devices: how its batch is shared, decided once and kept with the run, and what that brings. A few steps are
// taken before the first one that counts: what each device takes decides the shares where devices differ, and whether one device
// alone would be faster is said before anybody waits for it.

import type { Backend, DeviceDescription, Standing, Together } from '../backends/backend.ts';
import { sizeOf } from '../graph/op.ts';
import { optimizerStateNames } from '../plan/optimizer.ts';
import { rowsByShares } from '../plan/parts.ts';
import type { Sharing } from '../protocol/runs.ts';
import { timeText } from '../protocol/words.ts';
import { sharesOfCheckpoint } from './checkpoint.ts';
import type { Surroundings } from './control.ts';
import type { Diary } from './diary.ts';
import { measureSpeed } from './measure.ts';
import type { TrainerOptions } from './options.ts';
import { Session } from './session.ts';
import { isOutOfMemory } from './session-sizes.ts';
import { initializeWeights } from './weights.ts';

/** Milliseconds and steps of a rehearsal, at most; two steps are taken whatever they take. */
const rehearsalMilliseconds = 200;
const rehearsedSteps = 50;

export interface Opened {
  readonly session: Session;
  /** How the devices compare with the fastest of them; absent: there is one, or it is known from before. */
  readonly alone?: Sharing['alone'];
}

/** Opens the session of a run, with its batch shared where several devices train it. */
export async function openSession(options: TrainerOptions, diary: Diary): Promise<Opened> {
  const { together } = options.backend;
  const batch = Math.min(options.training.batch, Math.max(1, options.data.counts.train));
  together?.onLost((device, reason) => {
    const [own] = together.devices;
    diary.warn(
      `${nameIn(together.devices, device)} is lost: ${reason} The run goes on without it: ${nameIn(together.devices, own)} makes its share of every batch too.`,
    );
  });
  const kept = options.checkpoint ? sharesOfCheckpoint(options.checkpoint, batch) : null;
  if (kept) {
    const rows = kept.map((share) => share.toLocaleString('en'));
    const who = together ? sharesText(together.devices, kept) : `parts of ${rows.join(', ')} rows, all on this device`;
    diary.say(`Every batch of ${batch} is shared as before: ${who}.`);
    return { session: await Session.open({ ...options, shares: kept }) };
  }
  return together ? openShared(options, together, batch, diary) : { session: await Session.open(options) };
}

async function openShared(options: TrainerOptions, together: Together, batch: number, diary: Diary): Promise<Opened> {
  const { devices, weights } = together;
  const alike = devices.every(({ kind }) => kind === devices[0].kind);
  let session = await Session.open({ ...options, shares: rowsByShares(batch, weights ?? devices.map(() => 1)) });
  let shares = session.shares!;
  try {
    let standing = await rehearse(session, options.surroundings);
    if (!weights && !alike) {
      const faster = sharesBySpeed(batch, shares, standing);
      if (faster.join() !== shares.join()) {
        session.close();
        session = await Session.open({ ...options, shares: faster });
        shares = session.shares!;
        standing = await rehearse(session, options.surroundings);
      }
    }
    diary.say(`Every batch of ${batch} is shared: ${sharesText(devices, shares)}.`);
    const alone = await fastestAlone(options, together, { shares, standing, batch });
    if (!alone) return { session };
    const both = { ...alone, together: stepOf(standing) };
    compare(diary, both, devices.length);
    return { session, alone: both };
  } catch (error) {
    session.close();
    throw error;
  }
}

/** A few steps whose updates are undone: first weights are written after it, and the optimizer's state is new. */
async function rehearse(session: Session, { clock, breathe }: Surroundings): Promise<Standing> {
  const { executable, plan, training, batch } = session;
  initializeWeights(executable, session.whole, training.seed);
  await session.enter(0, 0);
  // The first step compiles and fills caches.
  await session.train(0, 0, 1, batch);
  executable.standing!(true);
  const start = clock();
  for (let step = 0; step < 2 || (step < rehearsedSteps && clock() - start < rehearsalMilliseconds); step++) {
    await session.train(0, 0, 1, batch);
    await breathe();
  }
  const standing = executable.standing!(true);
  for (const name of optimizerStateNames(training.optimizer)) {
    executable.write(name, new Float32Array(sizeOf(plan.tensors[name].shape)));
  }
  return standing;
}

/** Milliseconds of a step. */
const stepOf = ({ steps, devices, exchange, update }: Standing): number =>
  (Math.max(...devices.map(({ working, waiting }) => working + waiting)) + exchange + update) / steps;

/** So many rows that all would take equally long, in 32nds of the batch: what is measured differs a little each time. */
export function sharesBySpeed(batch: number, shares: readonly number[], { devices }: Pick<Standing, 'devices'>) {
  const speeds = shares.map((rows, i) =>
    rows > 0 && !devices[i].lost ? rows / Math.max(1e-3, devices[i].working) : 0,
  );
  const whole = speeds.reduce((sum, speed) => sum + speed, 0);
  const parts = speeds.map((speed) => Math.round((32 * speed) / whole));
  return rowsByShares(batch, parts);
}

type Alone = Omit<NonNullable<Sharing['alone']>, 'together'>;

/** The device that would be fastest by itself: the first as it trains by itself, others by their time for their share. Null: it cannot be told. */
async function fastestAlone(
  options: TrainerOptions,
  { devices, alone }: Together,
  {
    shares,
    standing,
    batch,
  }: { readonly shares: readonly number[]; readonly standing: Standing; readonly batch: number },
): Promise<Alone | null> {
  const found: Alone[] = [];
  shares.forEach((rows, i) => {
    const { kind } = devices[i];
    if (rows === 0 || standing.devices[i].lost || (kind === devices[0].kind && alone)) return;
    const milliseconds = ((standing.devices[i].working / rows) * batch + standing.update) / standing.steps;
    found.push({ name: wordOf(kind), milliseconds });
  });
  if (alone) {
    const milliseconds = await measureAlone(options, await alone());
    if (milliseconds !== null) found.push({ name: wordOf(devices[0].kind), milliseconds });
  }
  return found.toSorted((a, b) => a.milliseconds - b.milliseconds).at(0) ?? null;
}

async function measureAlone(options: TrainerOptions, backend: Backend): Promise<number | null> {
  try {
    return (await measureSpeed({ ...options, backend, shares: undefined }, options.surroundings)).stepMilliseconds;
  } catch (error) {
    // What does not fit one device is what several are for.
    if (isOutOfMemory(error)) return null;
    throw error;
  } finally {
    await backend.close();
  }
}

function compare(diary: Diary, { name, milliseconds, together }: NonNullable<Sharing['alone']>, count: number): void {
  const all = count === 2 ? 'both together' : `all ${count} together`;
  const times = `a step takes about ${short(milliseconds)} on the ${name} alone and ${short(together)} on ${all}`;
  if (milliseconds > together) {
    diary.say(`Measured before the first step: ${times}, ${(milliseconds / together).toFixed(1)} times as fast.`);
  } else {
    diary.warn(`One device alone is faster here: ${times}. Train this on the ${name} alone.`);
  }
}

const short = (milliseconds: number): string =>
  milliseconds < 1000 ? `${milliseconds.toPrecision(3)} ms` : timeText(milliseconds);

const wordOf = (kind: DeviceDescription['kind']): string => (kind === 'reference' ? 'reference' : kind.toUpperCase());

/** `CPU 1`, `CPU 2`, `GPU`: numbered where there are several of a kind. */
export function deviceNames(devices: readonly DeviceDescription[]): readonly string[] {
  return devices.map(({ kind }, i) => {
    const alike = devices.filter((other) => other.kind === kind);
    const number = devices.slice(0, i + 1).filter((other) => other.kind === kind).length;
    return alike.length > 1 ? `${wordOf(kind)} ${number}` : wordOf(kind);
  });
}

const nameIn = (devices: readonly DeviceDescription[], device: DeviceDescription): string =>
  deviceNames(devices)[devices.indexOf(device)] ?? device.name;

function sharesText(devices: readonly DeviceDescription[], shares: readonly number[]): string {
  const names = deviceNames(devices);
  return shares
    .map(
      (rows, i) =>
        `${names[i] ?? names[0]} ${rows === 0 ? 'none, it would hold the others up' : `${rows.toLocaleString('en')} rows`}`,
    )
    .join(', ');
}

/** What a run tells of its devices. Null: it is on one. */
export function sharingOf({ together }: Backend, { session, alone }: Opened): Sharing | null {
  const { executable, shares } = session;
  const standing = executable.standing?.();
  if (!together || !standing || !shares) return null;
  const names = deviceNames(together.devices);
  const seconds = (milliseconds: number): number => milliseconds / 1000;
  return {
    steps: standing.steps,
    exchange: seconds(standing.exchange),
    update: seconds(standing.update),
    ...(alone ? { alone } : {}),
    devices: standing.devices.map(({ working, waiting, lost }, i) => ({
      name: names[i] ?? `device ${i + 1}`,
      rows: shares[i] ?? 0,
      working: seconds(working),
      waiting: seconds(waiting),
      ...(lost ? { lost } : {}),
    })),
  };
}

/** Where the time of the steps went, in a sentence. */
export function sharingText({ steps, exchange, update, devices }: Sharing): string {
  const each = (seconds: number): string => short((1000 * seconds) / Math.max(1, steps));
  const said = devices.map(({ name, rows, working, waiting, lost }) =>
    lost ? `${name} was lost` : `${name} (${rows} rows) worked ${each(working)} and waited ${each(waiting)}`,
  );
  return `Of a step, ${said.join('; ')}; handing over took ${each(exchange)}, the update ${each(update)}.`;
}
