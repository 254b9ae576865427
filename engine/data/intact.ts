// Is an imported dataset what the import made? Its manifest carries its own checksum and those of the files beside it. Sizes are
// compared whenever a dataset is used, contents once by each process before rows are read: training on changed rows would be
// wrong in silence.

import { createHash } from 'node:crypto';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { ownValue } from '../protocol/own.ts';
import type { Job } from './jobs.ts';
import { fileFacts } from './manifest.ts';
import type { FileFacts, Manifest } from './manifest.ts';

export const manifestFile = 'manifest.json';

/** What reading a manifest relies on. The checksum vouches for the rest; manifests of earlier versions have none. */
const manifestSchema = z.looseObject({
  version: z.int(),
  sourceBytes: z.number(),
  info: z.looseObject({
    id: z.string(),
    name: z.string(),
    kind: z.enum(['table', 'images']),
    source: z.string(),
    rows: z.int().min(0),
    bytes: z.int().min(0),
    importedAt: z.number(),
    columns: z.array(z.looseObject({ name: z.string(), type: z.string() })),
    warnings: z.array(z.looseObject({ code: z.string(), message: z.string() })),
  }),
  columns: z.array(
    z.looseObject({ stored: z.looseObject({ name: z.string() }), info: z.looseObject({ name: z.string() }) }),
  ),
  importWarnings: z.array(z.looseObject({ code: z.string(), message: z.string() })),
  files: fileFacts.optional(),
});

/** Larger manifests are none: a column takes some kilobytes. */
export const largestManifest = 2 ** 28;

export function encodeManifest(manifest: Manifest, files: FileFacts): string {
  const text = JSON.stringify({ ...manifest, files });
  const check = createHash('sha256').update(text).digest('hex');
  return `${text.slice(0, -1)},"check":"${check}"}`;
}

/** null: this is no manifest, or a damaged one. */
export function decodeManifest(text: string): Manifest | null {
  try {
    const found = /^(.*),"check":"([0-9a-f]{64})"\}$/s.exec(text);
    if (found !== null && createHash('sha256').update(`${found[1]}}`).digest('hex') !== found[2]) return null;
    const value: unknown = JSON.parse(text);
    const parsed = manifestSchema.safeParse(value);
    // A manifest that names its files has a checksum: one that was cut off is damage.
    if (!parsed.success || (parsed.data.files !== undefined && found === null)) return null;
    return value as Manifest;
  } catch {
    return null;
  }
}

/** Reads all files of a folder but the manifest. @throws CancelledError if the job was cancelled. */
export async function factsOf(folder: string, job?: Pick<Job, 'throwIfCancelled'>): Promise<FileFacts> {
  const facts: [string, FileFacts[string]][] = [];
  for (const name of (await readdir(folder)).sort()) {
    if (name === manifestFile) continue;
    const path = join(folder, name);
    facts.push([name, { bytes: (await stat(path)).size, sha256: await hashOf(path, job) }]);
  }
  return Object.fromEntries(facts);
}

/** Whether sizes are what the manifest says; null, or what is wrong as a part of a sentence. */
export async function wrongSize(folder: string, { info, files }: Manifest): Promise<string | null> {
  const names = files ? Object.keys(files) : info.kind === 'table' ? ['data.parquet'] : ['pixels.bin', 'pictures.json'];
  let total = 0;
  for (const name of names) {
    const size = await sizeOf(join(folder, name));
    const bytes = files ? ownValue(files, name)?.bytes : size;
    if (size === null) return `${name} is gone`;
    if (size !== bytes) return `${name} has ${size} bytes, ${bytes} were written`;
    total += size;
  }
  // Earlier versions noted no more than the sum.
  return files || total === info.bytes ? null : `its files have ${total} bytes, ${info.bytes} were written`;
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Compares contents with their checksums, each state of a file once. */
export class ContentCheck {
  readonly #known = new Map<string, string>();

  /** null, or what is wrong as a part of a sentence. */
  async wrong(folder: string, { files = {} }: Manifest): Promise<string | null> {
    for (const name of Object.keys(files)) {
      const path = join(folder, name);
      const { size, mtimeMs, ino } = await stat(path);
      const state = `${size} ${mtimeMs} ${ino}`;
      if (this.#known.get(path) === state) continue;
      if ((await hashOf(path)) !== ownValue(files, name)?.sha256) return `${name} is not what was written`;
      this.#known.set(path, state);
    }
    return null;
  }
}

const readBytes = 2 ** 20;

async function hashOf(path: string, job?: Pick<Job, 'throwIfCancelled'>): Promise<string> {
  const hash = createHash('sha256');
  const file = await open(path, 'r');
  try {
    const buffer = new Uint8Array(readBytes);
    for (;;) {
      job?.throwIfCancelled();
      const { bytesRead } = await file.read(buffer, 0, readBytes, null);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}
