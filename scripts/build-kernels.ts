// Builds the CPU kernels: writes the lists of kernels anew, generates the switch over all of them (kernels/*/cpu.ts, sorted by name), compiles it with the
// interpreter to build/kernels/kernels.wasm, and, where a C compiler is at hand, builds the optional native addon next to it.
// The list of kernel names travels inside the .wasm as the custom section `kernels`, so that one file is all a host needs.

import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import * as layout from '../engine/backends/cpu/layout.ts';
import { kernelFolders, writeKernelLists } from './list-kernels.ts';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const output = path.join(root, 'build', 'kernels');

/** WASM pages of the largest possible arena: 4 GiB. */
const maximumPages = 65536;

/** Instruction sets the native kernels are compiled for, by architecture of the machine; the addon picks one at run time. */
const nativeVariants: Partial<Record<NodeJS.Architecture, Readonly<Record<string, readonly string[]>>>> = {
  x64: {
    avx2: ['-mavx2', '-mfma'],
    avx512: ['-mavx512f', '-mavx512vl', '-mavx512dq', '-mavx512bw', '-mfma', '-mprefer-vector-width=512'],
  },
  arm64: { neon: [] },
};

writeKernelLists();
await buildWasm();
buildNative();

async function buildWasm(): Promise<void> {
  fs.mkdirSync(output, { recursive: true });
  const names = kernelFolders();
  fs.writeFileSync(path.join(output, 'dispatch.ts'), dispatchSource(names));
  const { error, stderr } = await asc.main([
    'engine/backends/cpu/assembly/interpreter.ts',
    '--baseDir',
    root,
    '--outFile',
    'build/kernels/kernels.wasm',
    '-O3',
    '--noAssert',
    '--runtime',
    'stub',
    '--enable',
    'simd,relaxed-simd,threads,bulk-memory',
    '--importMemory',
    '--sharedMemory',
    '--noExportMemory',
    '--maximumMemory',
    String(maximumPages),
    '--memoryBase',
    String(layout.staticBase),
    // Vectors are passed between kernels' functions only, never to JavaScript.
    '--disableWarning',
    '112',
  ]);
  if (error) {
    process.stderr.write(stderr.toString());
    process.stderr.write(`The kernels do not compile: ${error.message}\n`);
    process.exit(1);
  }
  const file = path.join(output, 'kernels.wasm');
  const wasm = fs.readFileSync(file);
  const temporary = `${file}.${process.pid}`;
  fs.writeFileSync(temporary, Buffer.concat([wasm, customSection('kernels', JSON.stringify(names))]));
  fs.renameSync(temporary, file);
}

/** Compiles engine/backends/cpu/native, or says in one line why not: everything runs without it, only slower. */
function buildNative(): void {
  const addon = path.join(output, 'native.node');
  const variants = nativeVariants[process.arch];
  const compiler = process.env.CC ?? 'cc';
  if (process.platform === 'win32' || !variants || spawnSync(compiler, ['--version']).status !== 0) {
    fs.rmSync(addon, { force: true });
    console.error(
      'No native CPU kernels (they need a C compiler on Linux or macOS): the CPU kernels run as WASM alone.',
    );
    return;
  }
  const source = path.join(root, 'engine', 'backends', 'cpu', 'native');
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
      ...flags,
      '-c',
      path.join(source, file),
      '-o',
      object,
    ]);
    return object;
  };
  try {
    const include = path.join(root, 'node_modules', 'node-api-headers', 'include');
    const parts = [
      compile('addon.c', 'addon', [`-I${include}`, '-DNAPI_VERSION=6', ...layoutDefinitions()]),
      ...Object.entries(variants).map(([name, flags]) =>
        compile('kernels.c', name, [`-DTABLE=table_${name}`, ...flags]),
      ),
    ];
    const shared = process.platform === 'darwin' ? ['-bundle', '-undefined', 'dynamic_lookup'] : ['-shared'];
    const temporary = `${addon}.${process.pid}`;
    runCompiler(compiler, [...shared, ...parts, '-lm', '-o', temporary]);
    fs.renameSync(temporary, addon);
  } catch (error) {
    fs.rmSync(addon, { force: true });
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

/** The AssemblyScript source of the switch, and the declaration of the native addon's entry. */
function dispatchSource(names: readonly string[]): string {
  const imports = names.map((name) => `import { ${name} } from '../../kernels/${name}/cpu';`);
  const cases = names.map((name, index) => `    case ${index}: return ${name}(args, thread, threads, step);`);
  return [
    '// Generated by scripts/build-kernels.ts.',
    ...imports,
    '@external("env", "native")',
    'export declare function native(record: usize, calls: i32, thread: i32, threads: i32, step: i32): i32;',
    'export function dispatch(kernel: i32, args: usize, thread: i32, threads: i32, step: i32): void {',
    '  switch (kernel) {',
    ...cases,
    '  }',
    '}',
    '',
  ].join('\n');
}

/** A WASM custom section: id 0, length, name, contents. */
function customSection(name: string, contents: string): Buffer {
  const label = Buffer.from(name);
  const body = Buffer.concat([unsigned(label.length), label, Buffer.from(contents)]);
  return Buffer.concat([Buffer.from([0]), unsigned(body.length), body]);
}

/** LEB128. */
function unsigned(value: number): Buffer {
  const bytes: number[] = [];
  do {
    const low = value & 127;
    value >>>= 7;
    bytes.push(value > 0 ? low | 128 : low);
  } while (value > 0);
  return Buffer.from(bytes);
}
