// A run of a file from elsewhere, before it is taken up: its row, its curves and its files are held to what the history here reads.

import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ownValue } from '../../protocol/own.ts';
import type { RunFile } from '../../protocol/runs.ts';
import { checksumName, checksumsFile, decodeChecksums } from '../checksums.ts';
import type { FileFact } from '../checksums.ts';
import type { Connection } from '../database.ts';
import { unreadableParts } from '../readable.ts';
import type { WholeRow } from '../records.ts';
import { bytesPerValue, unpackValues } from '../samples.ts';

/** Why a run cannot be used, as a part of a sentence; null: it can. `folder` holds its files. */
export async function whyUnusable(source: Connection, row: WholeRow, folder: string): Promise<string | null> {
  const [part] = unreadableParts(row);
  if (part !== undefined) return `its ${part} cannot be read`;
  if (!hasReadableCurves(source, row.id)) return 'its curves cannot be read';
  return changedFile(folder);
}

function hasReadableCurves(source: Connection, run: number): boolean {
  const series = new Set(
    source
      .sql<[], { id: number }>('SELECT id FROM series')
      .all()
      .map(({ id }) => id),
  );
  const samples = source.sql<[number], { step: unknown; data: unknown }>('SELECT step, data FROM sample WHERE run = ?');
  for (const { step, data } of samples.iterate(run)) {
    if (!Number.isInteger(step) || !(data instanceof Uint8Array) || data.byteLength % bytesPerValue !== 0) return false;
    let known = true;
    unpackValues(data, (number) => (known &&= series.has(number)));
    if (!known) return false;
  }
  return true;
}

/** A file that is not what the run's own checksums say. */
async function changedFile(folder: string): Promise<string | null> {
  const list = join(folder, checksumsFile);
  if (!existsSync(list)) return null;
  const text = readFileSync(list, 'utf8');
  const facts = decodeChecksums(text);
  if (Object.keys(facts).length === 0 && text.trim() !== '') {
    if (!isEmptyList(text)) return 'the list of its checksums is damaged';
  }
  for (const name of readdirSync(folder)) {
    const versions = ownValue(facts, checksumName(name as RunFile));
    if (versions !== undefined && !(await fits(join(folder, name), versions))) {
      return `its file ${name} is not what its checksums say`;
    }
  }
  return null;
}

function isEmptyList(text: string): boolean {
  try {
    const { version, files } = JSON.parse(text) as { version?: unknown; files?: object };
    // One of a later version speaks for itself.
    return version !== 1 || Object.keys(files ?? { none: 1 }).length === 0;
  } catch {
    return false;
  }
}

async function fits(file: string, versions: readonly FileFact[]): Promise<boolean> {
  const { size } = statSync(file);
  const ofSize = versions.filter(({ bytes }) => bytes === size);
  if (ofSize.length === 0) return false;
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  const sum = hash.digest('hex');
  return ofSize.some(({ sha256 }) => sha256 === sum);
}
