// Runs drawn cases on a variant of the CPU, on one, two and three threads: equal to the float64 reference, nothing written beside the outputs
// (guard words), every number of threads the same bits.

import assert from 'node:assert/strict';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import type { KernelContract, ParityCase } from '../../kernels/contract.ts';
import { type KernelName, kernels } from '../../kernels/registry.ts';
import { productsOfSum } from './drawn-cases.ts';
import { openContracts } from './backend-device.ts';
import { compare, type GuardedOperand, prepareCase } from './parity.ts';

const threadCounts = [1, 2, 3];
/** Cases that are compiled together: each has memory of its own, and threads take a while to start. */
const atOnce = 256;

/** What is wrong, a line a case and variant. `told`: how many cases are done. */
export async function checkDrawn(
  drawn: ReadonlyMap<KernelName, readonly ParityCase[]>,
  variants: readonly (string | false)[],
  told: (done: number) => void = () => undefined,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const all = [...drawn].flatMap(([name, cases]) => cases.map((each) => ({ name, each })));
  for (let first = 0; first < all.length; first += atOnce) {
    const some = all.slice(first, first + atOnce);
    const contracts = [...new Set(some.map(({ name }) => name))].map((name): KernelContract => {
      const cases = some.flatMap((one) => (one.name === name ? [one.each] : []));
      return { ...kernels[name], cases };
    });
    const prepared = contracts.flatMap((contract) =>
      contract.cases.map((each) =>
        prepareCase(contract, each, productsOfSum(contract.name as KernelName, each.params) !== null),
      ),
    );
    for (const native of variants) {
      const devices = await Promise.all(
        threadCounts.map((threads) =>
          openContracts(
            createCpuBackend({ threads, native }),
            `${native ? 'native' : 'WASM'}, ${threads} threads`,
            contracts,
          ),
        ),
      );
      for (const one of prepared) {
        const { kernel, parityCase, inputs, outputs } = one;
        try {
          const results: (readonly GuardedOperand[])[] = [];
          for (const device of devices) results.push(await device.runKernel(kernel, parityCase, inputs, outputs));
          compare(one, results[0], devices[0].name);
          const what = `case ${JSON.stringify(parityCase)}`;
          results.forEach((result, i) => {
            assert.deepEqual(result, results[0], `${kernel.name} on ${devices[i].name}: other bits, ${what}`);
          });
        } catch (error) {
          wrong.push((error as Error).message.split('\n', 1)[0]);
        }
      }
      for (const device of devices) await device.close();
    }
    told(Math.min(all.length, first + atOnce));
  }
  return wrong;
}
