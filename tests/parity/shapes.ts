// Thousands of random shapes over all kernels, by WebAssembly, natively and natively by AVX2 alone, on one, two and three threads:
//   node tests/parity/shapes.ts [--shapes 10000] [--seed 1] [--kernels conv2d,matmul]
// Each that was wrong is a line; then how many there were of how many. Exit code 1 where there was one.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findNative, loadNative } from '../../engine/backends/cpu/native.ts';
import { type KernelName, kernels } from '../../kernels/registry.ts';
import { setup } from '../../scripts/setup.mjs';
import { drawCases } from './drawn-cases.ts';
import { checkDrawn } from './drawn-shapes.ts';

await setup({ targets: ['kernels', 'native'] });
const { values } = parseArgs({
  options: {
    shapes: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    kernels: { type: 'string', default: Object.keys(kernels).join(',') },
    /** In a process that is kept to one instruction set WebAssembly is what it was before. */
    'native-only': { type: 'boolean', default: false },
  },
});
const addon = findNative();
const variants = [...(values['native-only'] ? [] : [false as const]), ...(addon === undefined ? [] : [addon])];
const drawn = drawCases(values.kernels.split(',') as KernelName[], Number(values.shapes), Number(values.seed));
const shapes = [...drawn.values()].reduce((sum, cases) => sum + cases.length, 0);
const start = performance.now();
const wrong = await checkDrawn(drawn, variants, (done) => {
  console.error(`${done} of ${shapes} shapes, ${((performance.now() - start) / 1000).toFixed(0)} s`);
});
for (const line of wrong) console.log(line);
const told = variants.map((native) => (native ? loadNative(native).instructions : 'WebAssembly'));
console.log(`${shapes} shapes, ${wrong.length} wrong (${told.join(', ')})`);
if (wrong.length > 0) process.exitCode = 1;
if (!values['native-only'] && addon !== undefined && process.arch === 'x64') {
  const args = [fileURLToPath(import.meta.url), ...process.argv.slice(2), '--native-only'];
  const env = { ...process.env, TRAINYARD_NATIVE: 'avx2' };
  if (spawnSync(process.execPath, args, { env, stdio: 'inherit' }).status !== 0) process.exitCode = 1;
}
