// The long form of tests/unit/data/odd-tables.test.ts: thousands of generated tables, some of them with columns that turn from
// numbers to words at row 300,000, imported and compared cell by cell with what Python's csv module reads.
//
//   node tests/soak/odd-tables.ts [TABLES, default 2000] [PYTHON, default python3]

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createDataService } from '../../engine/data/service.ts';
import { oddTable, sameCell } from '../support/odd-tables.ts';
import type { OddLayout } from '../support/odd-tables.ts';

const tables = Number(process.argv[2] ?? 2000);
const python = process.argv[3] ?? 'python3';
/** Tables read by one Python process. */
const batch = 50;
/** Every so manieth table is long. */
const longEvery = 250;
const turnAt = 300_000;
/** Rows asked for at a time. */
const page = 10_000;

const counts = { tables: 0, cells: 0, wrong: 0, lost: 0, crashed: 0 };
const folder = mkdtempSync(join(tmpdir(), 'trainyard-soak-'));
const service = createDataService({ home: join(folder, 'home') });
const startedAt = performance.now();
try {
  for (let first = 1; first <= tables; first += batch) {
    const made = Array.from({ length: Math.min(batch, tables - first + 1) }, (_, index) => first + index).map(
      (seed) => {
        const { name, bytes, layout } = oddTable(seed, seed % longEvery === 0 ? turnAt : undefined);
        writeFileSync(join(folder, name), bytes);
        return { seed, file: name, layout, ...layout };
      },
    );
    writeFileSync(join(folder, 'layouts.json'), JSON.stringify(made));
    const script = join(import.meta.dirname, 'read_tables.py');
    const read = spawnSync(python, [script, folder], { encoding: 'utf8' });
    if (read.status !== 0) throw new Error(`${python} cannot read the tables: ${read.stderr}`);
    for (const { seed, file, layout } of made) await compare(seed, file, layout);
    process.stdout.write(`${counts.tables} tables, ${counts.cells} cells: ${summary()}\n`);
  }
} finally {
  await service.close();
  rmSync(folder, { recursive: true, force: true });
}
const seconds = (performance.now() - startedAt) / 1000;
process.stdout.write(`${counts.tables} tables, ${counts.cells} cells in ${seconds.toFixed(0)} s: ${summary()}\n`);
process.exit(counts.wrong + counts.lost + counts.crashed === 0 ? 0 : 1);

function summary(): string {
  return `${counts.wrong} wrong, ${counts.lost} lost, ${counts.crashed} crashes or refusals`;
}

async function compare(seed: number, file: string, layout: OddLayout): Promise<void> {
  const path = join(folder, file);
  const about = `table ${seed} ${JSON.stringify(layout)}`;
  const [names = [], ...records] = JSON.parse(readFileSync(`${path}.records.json`, 'utf8')) as string[][];
  counts.tables++;
  try {
    const info = await service.import({ job: file, path });
    if (info.rows !== records.length || info.columns.length !== names.length) {
      counts.lost++;
      complain(`${about}: ${info.rows} × ${info.columns.length} instead of ${records.length} × ${names.length}`);
      return;
    }
    for (let offset = 0; offset < info.rows; offset += page) {
      const { rows } = await service.rows({ dataset: info.id, offset, limit: page });
      rows.forEach((row, index) =>
        row.forEach((cell, column) => {
          counts.cells++;
          const written = records[offset + index]?.[column] ?? '';
          if (sameCell(written, cell, layout.decimal)) return;
          counts.wrong++;
          complain(`${about}, row ${offset + index + 1}, ${names[column]}: ${written} → ${String(cell)}`);
        }),
      );
    }
    await service.remove({ dataset: info.id });
  } catch (error) {
    counts.crashed++;
    complain(`${about}: ${String(error)}`);
  } finally {
    rmSync(path, { force: true });
    rmSync(`${path}.records.json`, { force: true });
  }
}

function complain(text: string): void {
  if (counts.wrong + counts.lost + counts.crashed <= 20) process.stdout.write(`${text}\n`);
}
