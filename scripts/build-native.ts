// Builds the optional native addon, build/kernels/native.node, where a C compiler is at hand: the heavy CPU kernels of
// engine/backends/cpu/native, compiled once for each set of instructions, and the reader of plain tables (engine/data/formats/native).

import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as layout from '../engine/backends/cpu/layout.ts';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const output = path.join(root, 'build', 'kernels');

/** Instruction sets the native kernels are compiled for, by architecture of the machine; the addon picks one at run time. */
const nativeVariants: Partial<Record<NodeJS.Architecture, Readonly<Record<string, readonly string[]>>>> = {
  x64: {
    avx2: ['-mavx2', '-mfma'],
    avx512: ['-mavx512f', '-mavx512vl', '-mavx512dq', '-mavx512bw', '-mfma', '-mprefer-vector-width=512'],
  },
  arm64: { neon: [] },
};

buildNative();

/** Compiles engine/backends/cpu/native, or says in one line why not: everything runs without it, only slower. */
function buildNative(): void {
  const addon = path.join(output, 'native.node');
  const variants = nativeVariants[process.arch];
  const compiler = process.env.CC ?? 'cc';
  if (process.platform === 'win32' || !variants || spawnSync(compiler, ['--version']).status !== 0) {
    fs.rmSync(addon, { recursive: true, force: true });
    console.error(
      'No native CPU kernels (they need a C compiler on Linux or macOS): the CPU kernels run as WASM alone.',
    );
    return;
  }
  const source = path.join(root, 'engine', 'backends', 'cpu', 'native');
  const tables = path.join(root, 'engine', 'data', 'formats', 'native');
  const objects = path.join(output, 'native');
  fs.mkdirSync(objects, { recursive: true });
  const compile = (file: string, name: string, flags: readonly string[]): string => {
    const object = path.join(objects, `${name}.o`);
    const common = ['-O3', '-std=gnu11', '-fPIC', '-fvisibility=hidden', '-fno-math-errno', '-fno-trapping-math'];
    runCompiler(compiler, [
      ...common,
      '-ffp-contract=fast',
      '-Wall',
      '-Wno-psabi',
      `-DSCRATCH_FLOATS=${layout.nativeScratchFloats}`,
      `-DPOINT_TILES=${layout.nativeTileFloats}`,
      `-DCACHED_TILES=${layout.nativeCachedFloats}`,
      ...flags,
      '-c',
      path.resolve(source, file),
      '-o',
      object,
    ]);
    return object;
  };
  try {
    const include = path.join(root, 'node_modules', 'node-api-headers', 'include');
    const parts = [
      compile('addon.c', 'addon', [`-I${include}`, `-I${tables}`, '-DNAPI_VERSION=6', ...layoutDefinitions()]),
      compile(path.join(tables, 'plain_addon.c'), 'plain_addon', [`-I${include}`, '-DNAPI_VERSION=6']),
      // The addon is used where its first set of instructions is; sums have the bits that they have in JavaScript.
      compile(path.join(tables, 'plain_rows.c'), 'plain_rows', [
        ...(Object.values(variants)[0] ?? []),
        '-ffp-contract=off',
      ]),
      ...Object.entries(variants).flatMap(([name, flags]) => [
        compile('kernels.c', name, [`-DTABLE=table_${name}`, ...flags]),
        // Sums of trees have one set of bits everywhere.
        ...['trees', 'tree_bins', 'tree_forest'].map((file) =>
          compile(`${file}.c`, `${file}-${name}`, [`-DTABLE=table_${name}`, ...flags, '-ffp-contract=off']),
        ),
      ]),
    ];
    const shared = process.platform === 'darwin' ? ['-bundle', '-undefined', 'dynamic_lookup'] : ['-shared'];
    const temporary = `${addon}.${process.pid}`;
    runCompiler(compiler, [...shared, ...parts, '-lm', '-o', temporary]);
    // Nothing is renamed to a folder.
    if (fs.statSync(addon, { throwIfNoEntry: false })?.isDirectory()) fs.rmSync(addon, { recursive: true });
    fs.renameSync(temporary, addon);
  } catch (error) {
    fs.rmSync(addon, { recursive: true, force: true });
    console.error(
      `The native kernels do not compile, so the CPU kernels run as WASM alone: ${(error as Error).message}`,
    );
  }
}

function runCompiler(compiler: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(compiler, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr.trim().split('\n').slice(0, 5).join('\n'));
  if (stderr) console.error(stderr.trim());
}

/** The words of the control block and of the records that the addon needs, as C macros. */
function layoutDefinitions(): readonly string[] {
  return [
    `-DCONTROL_FAILED=${layout.controlFailed}`,
    `-DCONTROL_ARRIVED=${layout.controlArrived}`,
    `-DCONTROL_PHASE=${layout.controlPhase}`,
    `-DCONTROL_SLEEPERS=${layout.controlBarrierSleepers}`,
    `-DRECORD_HEADER_WORDS=${layout.recordHeaderWords}`,
  ];
}
