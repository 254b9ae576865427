// A file that a command writes: made beside its place under another name and renamed when it is complete, so that a kill or
// a full disk leaves the old file whole. What is no regular file (a pipe, a device, standard output) is written as it is.

import { createHash, randomBytes } from 'node:crypto';
import { rmSync, type Stats } from 'node:fs';
import { access, constants, lstat, mkdir, open, readdir, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { InputError, TrainyardError } from '../../engine/protocol/errors.ts';
import type { Output } from './output.ts';
import { unwritable } from './sink.ts';
import { isRunning } from '../../engine/system/alive.ts';

/** What is written, in pieces. */
export type Content = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

/** Bytes gathered before they are handed to the system. */
const blockBytes = 2 ** 18;
/** Errors that say nothing about the path that was given. */
const notTheirFault: readonly (string | undefined)[] = [
  'ENOSPC',
  'EDQUOT',
  'EIO',
  'EFBIG',
  'EPIPE',
  'ENOMEM',
  'EMFILE',
];

/**
 * Writes `content` to `file` and returns the number of bytes. A symbolic link stays and its target is replaced; the mode of
 * an old file is kept.
 * @throws InputError `input.write` where the path cannot be written, TrainyardError `store.output` where the system cannot.
 */
export async function writeOutput(file: string, content: Content, output: Output): Promise<number> {
  try {
    if (isStandardOutput(file)) return await writeStandard(file, content, output);
    const target = await followLinks(path.resolve(file));
    const old = await stat(target).catch(missingIsNull);
    if (old?.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
    if (old && !old.isFile()) return await writeInPlace(target, content);
    return await writeBeside(target, content, old);
  } catch (error) {
    throw explain(file, error);
  }
}

/** Refuses to write over a file that is read: the same path, or another name of the same file. Throws InputError `input.same_file`. */
export function refuseInput(file: string, input: string): Promise<void> {
  return refuseInputs([file], [input]);
}

/** The same of several files, none of which may be any of those that are read. */
export async function refuseInputs(files: readonly string[], inputs: readonly string[]): Promise<void> {
  const read = new Set<string>();
  for (const input of inputs) read.add(path.resolve(input)).add((await sameFileAs(input)) ?? '');
  for (const file of files) {
    if (isStandardOutput(file)) continue;
    const own = await sameFileAs(file);
    if ((own === null || !read.has(own)) && !read.has(path.resolve(file))) continue;
    throw new InputError(
      'input.same_file',
      `${file} is the file that is read: writing there would replace it.`,
      'Choose another place.',
    );
  }
}

/** What names of one regular file have in common; null: there is none. */
async function sameFileAs(file: string): Promise<string | null> {
  const found = await stat(file, { bigint: true }).catch(() => null);
  return found?.isFile() ? `${found.dev}:${found.ino}` : null;
}

/**
 * Refuses a path that cannot be written before long work is done for it, and keeps standard output free for the file if that
 * is where it goes. Throws as `writeOutput`.
 */
export async function checkOutput(file: string, output: Output): Promise<void> {
  if (isStandardOutput(file)) {
    output.giveAway(file);
    return;
  }
  try {
    const target = await followLinks(path.resolve(file));
    const old = await stat(target).catch(missingIsNull);
    if (old?.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
    if (old) await access(target, constants.W_OK);
    if (!old || old.isFile()) await access(path.dirname(target), constants.W_OK);
  } catch (error) {
    throw explain(file, error);
  }
}

/** The same of a folder, which need not be there yet: the nearest folder above it has to be one that can be written. */
export async function checkOutputFolder(folder: string): Promise<void> {
  try {
    let place = path.resolve(folder);
    let found = await stat(place).catch(missingIsNull);
    while (found === null && path.dirname(place) !== place) {
      place = path.dirname(place);
      found = await stat(place).catch(missingIsNull);
    }
    if (found === null) throw Object.assign(new Error('there is no such drive'), { code: 'ENXIO' });
    if (!found.isDirectory()) throw Object.assign(new Error('a file has that name'), { code: 'EEXIST' });
    await access(place, constants.W_OK);
  } catch (error) {
    throw explain(folder, error);
  }
}

/** Makes a folder and those above it, one after the other, and returns the first that was not there; undefined: all were. Throws as `writeOutput`. */
export async function makeOutputFolder(folder: string): Promise<string | undefined> {
  await checkOutputFolder(folder);
  const missing: string[] = [];
  try {
    // Not by `recursive`, which never ends where the system takes no folder, as below /proc.
    for (let at = path.resolve(folder); (await stat(at).catch(missingIsNull)) === null; at = path.dirname(at))
      missing.unshift(at);
    for (const at of missing) await mkdir(at);
    return missing[0];
  } catch (error) {
    throw explain(folder, error);
  }
}

/** Whether a path is what the command itself writes to. */
export const isStandardOutput = (file: string): boolean =>
  process.platform !== 'win32' && /^(\/dev\/stdout|\/dev\/fd\/1|\/proc\/self\/fd\/1)$/.test(path.resolve(file));

async function writeStandard(file: string, content: Content, output: Output): Promise<number> {
  const sink = output.giveAway(file);
  let bytes = 0;
  for await (const block of blocks(content)) {
    sink.write(block);
    bytes += block.length;
    await sink.ready();
  }
  return bytes;
}

async function writeInPlace(target: string, content: Content): Promise<number> {
  // Neither made nor cut: it is there, and it is no regular file.
  const handle = await open(target, constants.O_WRONLY);
  try {
    return await writeBlocks(handle, content);
  } finally {
    await handle.close();
  }
}

async function writeBeside(target: string, content: Content, old: Stats | null): Promise<number> {
  if (old) await access(target, constants.W_OK);
  const folder = path.dirname(target);
  await removeLeftovers(folder);
  const beside = path.join(folder, `${prefix}${process.pid}-${randomBytes(4).toString('hex')}`);
  // A signal may end the process at any time; `exit` is the last moment to clean up.
  const remove = (): void => rmSync(beside, { force: true });
  process.once('exit', remove);
  try {
    const handle = await open(beside, 'wx');
    let bytes: number;
    try {
      if (old) await keepOwner(handle, old);
      bytes = await writeBlocks(handle, content);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(beside, target);
    return bytes;
  } catch (error) {
    await rm(beside, { force: true });
    throw error;
  } finally {
    process.off('exit', remove);
  }
}

/** As the old file was; giving it to its owner takes rights that most have not. */
async function keepOwner(handle: FileHandle, old: Stats): Promise<void> {
  const { uid, gid } = await handle.stat();
  if (uid !== old.uid || gid !== old.gid) await handle.chown(old.uid, old.gid).catch(() => undefined);
  await handle.chmod(old.mode & 0o7777);
}

async function writeBlocks(handle: FileHandle, content: Content): Promise<number> {
  let bytes = 0;
  for await (const block of blocks(content)) {
    for (let at = 0; at < block.length;) at += (await handle.write(block, at)).bytesWritten;
    bytes += block.length;
  }
  return bytes;
}

/** Small pieces put together. */
async function* blocks(content: Content): AsyncIterable<Uint8Array> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of content) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    parts.push(bytes);
    size += bytes.length;
    if (size < blockBytes) continue;
    yield parts.length === 1 ? bytes : Buffer.concat(parts);
    parts = [];
    size = 0;
  }
  if (size > 0) yield Buffer.concat(parts);
}

/** Names the machine as well: on a shared disk a process number means nothing elsewhere. */
const prefix = `.trainyard-${createHash('sha256').update(os.hostname()).digest('hex').slice(0, 8)}-`;

/** Removes what processes of this machine that are gone left half-written in a folder. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const owner = name.startsWith(prefix) ? Number(name.slice(prefix.length).split('-')[0]) : NaN;
    if (Number.isInteger(owner) && !isRunning(owner)) await rm(path.join(folder, name), { force: true });
  }
}

/** What a path leads to, also where the end of the links is not there yet. */
async function followLinks(file: string, most = 40): Promise<string> {
  try {
    return await realpath(file);
  } catch (error) {
    const link = await lstat(file).catch(missingIsNull);
    if (!link?.isSymbolicLink() || most === 0) {
      if (link !== null) throw error;
      return path.join(await realpath(path.dirname(file)), path.basename(file));
    }
    // A link to something without a path of its own, such as an open pipe below /proc, is used as it is.
    if (await stat(file).catch(missingIsNull)) return file;
    return followLinks(path.resolve(path.dirname(file), await readlink(file)), most - 1);
  }
}

function missingIsNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

const reasons = new Map<string | undefined, string>([
  ['ENOENT', 'its folder is not there'],
  ['ENOTDIR', 'part of the path is a file'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'it or its folder is write-protected'],
  ['EPERM', 'the system does not allow it'],
  ['EROFS', 'the disk is read-only'],
  ['EBUSY', 'another program has it open'],
  ['ELOOP', 'its links lead in a circle'],
  ['ENAMETOOLONG', 'the name is too long'],
]);

function explain(file: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error instanceof TrainyardError) return error;
  const problem = error as NodeJS.ErrnoException;
  if (notTheirFault.includes(problem.code)) return unwritable(file, problem);
  const reason = reasons.get(problem.code) ?? problem.message;
  return new InputError('input.write', `Cannot write ${file}: ${reason}.`, 'Choose another place.', { cause: error });
}
