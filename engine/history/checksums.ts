// Checksums of a run's files, in `checksums.json` of its folder. The file names those of the version that is being written
// before it is put in its place, and of those before: whatever moment a process is killed at, what lies there is known.

import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ownValue } from '../protocol/own.ts';
import type { RunFile } from '../protocol/runs.ts';

export const checksumsFile = 'checksums.json';

/** Versions of a file that may lie there: the new one and the one before, and of checkpoints the one before that. */
const keptVersions = 3;

export const fileFact = z.strictObject({ bytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) });
const known = z.record(z.string(), z.array(fileFact).min(1).max(keptVersions));

export type FileFact = z.infer<typeof fileFact>;
/** Versions that may lie there, the newest first. */
export type KnownFiles = Readonly<Record<string, readonly FileFact[]>>;

/** What the checksums of a file stand under: each checkpoint has been the last one. */
export const checksumName = (file: RunFile): RunFile => (file === 'checkpoint.previous.bin' ? 'checkpoint.bin' : file);

export function sha256(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex');
}

export function factOf(data: Uint8Array): FileFact {
  return { bytes: data.byteLength, sha256: sha256(data) };
}

export function encodeChecksums(files: KnownFiles): Uint8Array {
  const text = JSON.stringify(files);
  return new TextEncoder().encode(JSON.stringify({ version: 1, check: sha256(text), files }));
}

/** Nothing where the list itself is damaged, missing or of a later version: then its files speak for themselves. */
export function decodeChecksums(text: string): KnownFiles {
  try {
    const { version, check, files } = JSON.parse(text) as { version: unknown; check: unknown; files: unknown };
    if (version !== 1 || check !== sha256(JSON.stringify(files))) return {};
    return known.parse(files);
  } catch {
    return {};
  }
}

/** The list with a new version of a file. */
export function withVersion(files: KnownFiles, file: string, version: FileFact): KnownFiles {
  return { ...files, [file]: [version, ...(ownValue(files, file) ?? [])].slice(0, keptVersions) };
}
