// The CPU as far as it can be trusted on this machine and in this engine: all threads with the native addon, then one thread,
// then WebAssembly alone, then the float64 reference, whichever passes the self-test first.

import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { cpuName, instructionSets } from '../../engine/backends/cpu/describe.ts';
import { usableCores } from '../../engine/system/cores.ts';
import { defaultWasm } from '../../engine/backends/cpu/module.ts';
import { findNative } from '../../engine/backends/cpu/native.ts';
import type { Backend } from '../../engine/backends/backend.ts';
import { createReferenceBackend } from '../../engine/backends/reference/backend.ts';
import { fileTuning } from '../../engine/backends/webgpu/node.tuning.ts';
import { nodeRest } from './surroundings.ts';
import { openTrusted, type Rung, type TrustOptions } from '../../engine/train/trust.ts';

export interface TrustedCpuOptions {
  /** Where results of the self-test are kept. */
  readonly home: string;
  /** CPU threads; 0 or absent = as many as pay. */
  readonly threads?: number;
  /** Programs that run on one thread: others are at work on the same cores. */
  readonly alone?: (program: string) => boolean;
}

/** Seconds the threads of a self-test wait for each other. */
const patience = 2;

/** Opens the CPU; its device carries a warning if the self-test did not pass in the best way. */
export async function openCpu(options: TrustedCpuOptions): Promise<Backend> {
  return openTrusted(cpuTrust(options));
}

/** The ways of using this CPU, for `findTrust` and `openTrusted`. */
export function cpuTrust({ home, threads = 0, alone }: TrustedCpuOptions): TrustOptions {
  const native = findNative();
  const most = threads || usableCores();
  const rungs = [
    ...(native ? cpuRungs(threads, most, undefined, alone) : []),
    ...cpuRungs(threads, most, false, alone),
    reference,
  ];
  return {
    device: 'CPU',
    rungs,
    key: [engineKey(), cpuName(), instructionSets(native), buildKey(native), `${most} threads`].join(' | '),
    store: fileTuning(path.join(home, 'self-test.json')),
    ...nodeRest,
  };
}

const reference: Rung = { name: 'the float64 reference, which is slow', open: createReferenceBackend };

/** All threads, then one, with the addon or (`native` false) without. `threads` is what was asked for, 0 = any. */
function cpuRungs(
  threads: number,
  most: number,
  native: false | undefined,
  alone: TrustedCpuOptions['alone'],
): readonly Rung[] {
  const kernels = native === false ? 'WebAssembly alone' : 'the native addon';
  const test = (count: number): Backend => createCpuBackend({ threads: count, native, patience });
  const one: Rung = {
    name: `one thread with ${kernels}`,
    open: () => createCpuBackend({ threads: 1, native }),
  };
  if (most === 1) return [one];
  return [
    {
      name: `${most} threads with ${kernels}`,
      tests: [() => test(1), () => test(most)],
      open: () => createCpuBackend({ threads, native, alone }),
    },
    one,
  ];
}

/** V8, Node or Electron, and the flags that were given. */
function engineKey(): string {
  const { v8, node, electron } = process.versions as NodeJS.ProcessVersions & { readonly electron?: string };
  const flags = [...process.execArgv.filter((flag) => !flag.startsWith('--test')), process.env['NODE_OPTIONS'] ?? ''];
  return [`V8 ${v8}`, electron ? `Electron ${electron}` : `Node ${node}`, os.arch(), ...flags].join(' ').trim();
}

/** The kernels themselves: a new build is tested anew. */
function buildKey(native: string | undefined): string {
  const hash = createHash('sha1').update(readFileSync(defaultWasm()));
  if (native) {
    const { size, mtimeMs } = statSync(native);
    hash.update(`${size} ${mtimeMs}`);
  }
  return hash.digest('hex').slice(0, 12);
}
