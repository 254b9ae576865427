// Damages copies of a home, one file each, and uses them as a person would: what cannot be relied on is refused in one clear
// line or named by the repair; everything else is exactly what it was.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { createDataService } from '../../engine/data/service.ts';
import { backupsOf } from '../../engine/history/backups.ts';
import { processOwner } from '../../engine/history/owner.ts';
import { repairHome } from '../../engine/history/repair.ts';
import { createStore } from '../../engine/history/store.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import type { RepairReport, StoreService } from '../../engine/protocol/store.ts';
import { networkConfig } from '../../engine/learners/network/declaration.ts';
import { defaultTraining, mlp } from '../../engine/model/presets.ts';
import { createExporter } from '../../engine/export/exporter.ts';
import { makeExport } from '../../engine/runs/export.ts';
import { createRunManager } from '../../engine/runs/manager.ts';
import { decodeCheckpoint } from '../../engine/train/checkpoint.ts';
import { inProcessHosts } from '../../electron/cli/hosts.ts';
import { penguins } from '../support/cli.ts';
import { randomNumbers } from './kills.ts';

export interface DamageReport {
  readonly damages: number;
  /** How often damage was refused or named, and how often it did no harm. */
  readonly refused: number;
  readonly harmless: number;
  readonly wrong: readonly string[];
}

const kinds = ['flip', 'truncate', 'empty', 'remove', 'garbage'] as const;

/** A home with two trained runs, of which the second has been made after the backup; closed. */
export async function makeHome(home: string): Promise<void> {
  for (const name of ['before the backup', 'after it']) {
    const store = createStore(home);
    const data = createDataService({ home });
    const manager = createRunManager({ store, data, hosts: inProcessHosts(data), owner: processOwner() });
    const { id: dataset } = await data.import({ job: 'import', path: penguins });
    const training = { ...defaultTraining(270, 'classification'), epochs: 12 };
    const config = networkConfig({ dataset, settings: {}, device: 'reference', threads: 1 }, mlp([8]), training);
    const { id: run } = await manager.start({ name, config });
    // A pause writes a checkpoint.
    const paused = new Promise((resolve) => manager.onReport(resolve)).then(() => manager.pause({ run }));
    await paused.then(() => manager.continue({ run })).catch(() => undefined);
    await manager.finished({ run });
    await data.close();
    await store.close();
    // The backup of the day is made when a history with runs is opened.
    const again = createStore(home);
    while (backupsOf(home).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await again.close();
  }
}

export async function damageMany(damages: number, seed: number): Promise<DamageReport> {
  const random = randomNumbers(seed);
  const folder = mkdtempSync(join(tmpdir(), 'trainyard-soak-'));
  const wrong: string[] = [];
  let refused = 0;
  try {
    const original = join(folder, 'original');
    await makeHome(original);
    rmSync(join(original, 'history.reserve'), { force: true });
    const expected = await everything(original);
    const files = filesOf(original);
    const important = files.filter((file) => /history\.db$|manifest|parquet|checkpoint|best|model/.test(file));
    for (let number = 0; number < damages; number++) {
      const home = join(folder, 'copy');
      cpSync(original, home, { recursive: true, preserveTimestamps: true });
      const among = number % 2 === 0 ? important : files;
      const what = damage(home, among[Math.floor(random() * among.length)], random);
      try {
        if (await inspect(home, expected)) refused++;
      } catch (error) {
        wrong.push(`${number}: ${what}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
      }
      rmSync(home, { recursive: true, force: true });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return { damages, refused, harmless: damages - refused - wrong.length, wrong };
}

function filesOf(home: string): readonly string[] {
  const entries = readdirSync(home, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => relative(home, join(entry.parentPath, entry.name)));
}

function damage(home: string, file: string, random: () => number): string {
  const path = join(home, file);
  const { size } = statSync(path);
  const kind = size === 0 ? 'remove' : kinds[Math.floor(random() * kinds.length)];
  const offset = Math.floor(random() * size);
  if (kind === 'flip' || kind === 'garbage') {
    const bytes = readFileSync(path);
    if (kind === 'flip') bytes[offset] ^= 1 << Math.floor(random() * 8);
    else
      for (let index = offset; index < Math.min(size, offset + 64); index++) bytes[index] = Math.floor(random() * 256);
    writeFileSync(path, bytes);
  } else if (kind === 'truncate') truncateSync(path, offset);
  else if (kind === 'empty') truncateSync(path, 0);
  else rmSync(path);
  return `${kind} ${file.split(sep).join('/')} at ${offset} of ${size}`;
}

type Facts = ReadonlyMap<string, string>;

/** All that a home answers, as text by name; refusals as `refused: …`. */
async function everything(home: string): Promise<Facts> {
  const facts = new Map<string, string>();
  const ask = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    facts.set(name, await answer(work));
  };
  const store = createStore(home);
  await ask('list', async () => (await store.runs({})).runs.map(({ id }) => id));
  for (const run of [1, 2]) {
    await ask(`run ${run} record`, () => store.run({ run }));
    await ask(`run ${run} curve`, () => store.metrics({ run }));
    await ask(`run ${run} log`, () => store.log({ run }));
    await ask(`run ${run} export`, async () => text(await exported(store, run)));
    await ask(`run ${run} evaluation`, async () => text(await store.readFile({ run, file: 'evaluation.json' })));
    await ask(`run ${run} checkpoint`, () => checkpoint(store, run));
  }
  await store.close();
  const data = createDataService({ home });
  const [dataset] = await data.list();
  await ask('dataset rows', async () => (await data.rows({ dataset: dataset.id, offset: 0, limit: 400 })).rows);
  await data.close();
  return facts;
}

/** Everything a run keeps of its model, as JSON. */
async function exported(store: StoreService, run: number): Promise<Uint8Array> {
  const none = (): Promise<never> => Promise.reject(new RangeError('no rows are needed'));
  const service = createExporter({ readShard: none, rawRows: none, backend: none, dataBudget: 0 });
  const parts = {
    store,
    data: { prepare: none, release: none, cancel: none },
    exporter: () => Promise.resolve({ service, kill: () => undefined }),
    onnx: none,
  };
  const { files } = await makeExport(parts, { run, format: 'json', name: 'run', job: 'export' });
  return files[0].data;
}

async function checkpoint(store: StoreService, run: number): Promise<unknown> {
  const data = await store.readFile({ run, file: 'checkpoint.bin' });
  return data === null ? null : decodeCheckpoint(data).state;
}

const text = (bytes: Uint8Array | null): string | null => bytes && new TextDecoder().decode(bytes);

async function answer(work: () => Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await work());
  } catch (error) {
    return `refused: ${clearLine(error)}`;
  }
}

/** The line a person would read. Throws for an error that is none of ours. */
function clearLine(error: unknown): string {
  if (!(error instanceof TrainyardError) || error.code.startsWith('internal.')) throw error;
  const { message } = error;
  if (message.includes('\n') || message.length > 400 || message.length < 10) throw new Error(`unclear: ${message}`);
  return message;
}

/** Whether the damage was refused or named; throws where it was neither and something is wrong. */
async function inspect(home: string, expected: Facts): Promise<boolean> {
  let report: RepairReport = { problem: null };
  try {
    await createStore(home).close();
  } catch (error) {
    clearLine(error);
    report = await repairHome(home);
    if (report.problem === null)
      throw new Error(`refused, but nothing to repair: ${clearLine(error)}`, { cause: error });
  }
  // A dataset that cannot be used comes back with its file.
  const data = createDataService({ home });
  const info = await data.import({ job: 'again', path: penguins });
  await data.close();
  let named = report.problem !== null || info.warnings.some(({ code }) => code === 'set_aside');
  const found = await everything(home);
  const recovered = report.problem === null ? [] : [...report.salvaged, ...report.rebuilt, ...report.silent];
  for (const [name, value] of expected) {
    const now = found.get(name);
    if (now === value) continue;
    const excused = recovered.some((run) => name.startsWith(`run ${run} `));
    if (now?.startsWith('refused: ') || excused || isExcusedList(name, report)) named = true;
    else throw new Error(`${name} changed in silence: ${String(now).slice(0, 300)} instead of ${value.slice(0, 300)}`);
  }
  return named;
}

/** Runs whose folders say nothing are named by the repair. */
function isExcusedList(name: string, report: RepairReport): boolean {
  return name === 'list' && report.problem !== null && report.silent.length > 0;
}
