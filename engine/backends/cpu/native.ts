// The optional native addon: C kernels for the instruction sets WASM cannot reach (AVX2, AVX-512), working on the same
// memory. Which calls it takes over is decided when a program is encoded; everything else stays in WASM.

import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { InputError } from '../../protocol/errors.ts';
import type { HostArray } from '../backend.ts';

/** Runs a stretch of calls natively; 0 when done. Present only with the addon. */
export type NativeStretch = (record: number, calls: number, thread: number, threads: number, step: number) => number;

/** The addon, loaded. */
export interface NativeAddon {
  /** Instruction set its kernels were picked for, e.g. `AVX-512`. */
  readonly instructions: string;
  /** Names of the kernels it has. */
  readonly kernels: readonly string[];
  /**
   * Binds it to a machine's memory for the calling thread. `names` lists the kernels by their numbers in call records;
   * `patience` is how many seconds a thread waits for the others, `base` where the plan begins: that it asks large pages for.
   */
  attach(bytes: Buffer, names: readonly string[], patience: number, base: number): NativeStretch;
  /** Multiply-adds in registers on the calling thread; returns the floating-point operations done. */
  multiplyAdds(rounds: number): number;
  /**
   * Copies between two arrays of one length. V8's own `set` goes word by word where threads share either memory: 4.8 MB, in the third-level
   * cache, take it three times as long (0.33 ms instead of 0.1).
   */
  copy(target: HostArray, source: HostArray): void;
  /** Where the line after so many begins, or −1 − the lines there are. */
  afterLines(bytes: Uint8Array, from: number, end: number, lines: number): number;
  /** Reads rows of a plain table on another thread; false: they are not plain. See engine/data/formats/native-cells.ts. */
  readRows(
    bytes: Uint8Array,
    rows: number,
    style: Uint8Array,
    masks: Uint32Array,
    out: Uint8Array,
    facts: Float64Array,
  ): Promise<boolean>;
}

/** What may stand in the variables that turn kernels off, for tests and for comparing, besides nothing; addon.c reads them too. */
const switches = { TRAINYARD_NATIVE: ['0', 'avx2'], TRAINYARD_WINOGRAD: ['0'] } as const;

/** A word that is none of these would be taken for nothing, and a comparison would compare the same with itself. */
function checkSwitches(): void {
  for (const [name, values] of Object.entries(switches)) {
    const value = process.env[name] ?? '';
    if (value === '' || (values as readonly string[]).includes(value)) continue;
    throw new InputError(
      'usage.environment',
      `The environment variable ${name} is “${value}”.`,
      `Set it to ${values.join(' or ')}, or not at all.`,
    );
  }
}

/**
 * The path of the addon; undefined where there is none, where it is cut short, has nothing for this CPU or does not load on this
 * system (then WASM does everything), or where TRAINYARD_NATIVE=0 turns it off.
 * @throws InputError `usage.environment` where TRAINYARD_NATIVE or TRAINYARD_WINOGRAD has a value that means nothing.
 */
export function findNative(file: URL | string = defaultAddon()): string | undefined {
  checkSwitches();
  if (process.env.TRAINYARD_NATIVE === '0') return undefined;
  const path = typeof file === 'string' ? file : fileURLToPath(file);
  if (!existsSync(path)) return undefined;
  try {
    return isWhole(path) && loadNative(path).kernels.length > 0 ? path : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a library has all of its bytes. Linux maps one that is cut short, by a full disk for instance, and ends the process (SIGBUS)
 * when it reads what is missing; other systems refuse it. The table of sections is the last thing in an ELF file of 64 bits.
 */
function isWhole(path: string): boolean {
  if (process.platform !== 'linux' || loaded.has(path)) return true;
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(64);
    if (readSync(file, header) < header.length) return false;
    const sections = Number(header.readBigUInt64LE(40)) + header.readUInt16LE(58) * header.readUInt16LE(60);
    return fstatSync(file).size >= sections;
  } finally {
    closeSync(file);
  }
}

function defaultAddon(): URL {
  return new URL('../../../build/kernels/native.node', import.meta.url);
}

/** Rounds of multiply-adds timed at once (0.1 to 1 ms), and how often. */
const [peakRounds, peakRepeats] = [20_000, 40];

/** GFLOP/s of multiply-adds that touch no memory, one thread: what no product can exceed. */
export function multiplyAddRate({ multiplyAdds }: NativeAddon): number {
  let best = 0;
  for (let i = 0; i < peakRepeats; i++) {
    const start = performance.now();
    const done = multiplyAdds(peakRounds);
    best = Math.max(best, done / (performance.now() - start) / 1e6);
  }
  return best;
}

const loaded = new Map<string, NativeAddon>();

export function loadNative(path: string): NativeAddon {
  // Each program asks: to find the module anew took as long as its memory does.
  const addon = loaded.get(path) ?? (createRequire(import.meta.url)(path) as NativeAddon);
  loaded.set(path, addon);
  return addon;
}
