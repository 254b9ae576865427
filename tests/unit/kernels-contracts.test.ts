// What the type checker cannot see of the kernel contracts: names match folders, cases are complete, and each kernel is tested
// at size 1, at odd sizes and with each of its optional operands left out.

import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import test from 'node:test';
import { elementCount, type KernelContract } from '../../kernels/contract.ts';
import { kernels } from '../../kernels/registry.ts';
import { kernelLists } from '../../scripts/list-kernels.ts';

const folder = new URL('../../kernels/', import.meta.url);
const contracts: readonly (readonly [string, KernelContract])[] = Object.entries(kernels);

test('every folder with a contract is registered, under its own name', () => {
  const folders = fs.readdirSync(folder).filter((name) => fs.existsSync(new URL(`${name}/kernel.ts`, folder)));
  assert.deepEqual(Object.keys(kernels).sort(), folders.sort());
  for (const [name, kernel] of contracts) assert.equal(kernel.name, name);
});

test('the lists of contracts, oracles and GPU code are those of the folders', () => {
  for (const [file, contents] of Object.entries(kernelLists())) {
    const stored = fs.readFileSync(new URL(file, folder), 'utf8');
    assert.equal(stored, contents, `kernels/${file} is out of date: run node scripts/list-kernels.ts`);
  }
});

test('every kernel has an implementation for each device; those of trees are for the CPU', () => {
  for (const [name] of contracts) {
    for (const file of ['cpu.ts', ...(name.startsWith('tree_') ? [] : ['gpu.ts'])])
      assert.ok(fs.existsSync(new URL(`${name}/${file}`, folder)), `${name}/${file}`);
  }
});

test('every case gives exactly the declared parameters, and leaves out optional operands only', () => {
  for (const [name, { params, cases, inputs, outputs }] of contracts) {
    const optional = [...inputs, ...outputs].filter((operand) => operand.optional).map((operand) => operand.name);
    for (const parityCase of cases) {
      assert.deepEqual(Object.keys(parityCase.params).sort(), Object.keys(params).sort(), name);
      for (const absent of parityCase.absent ?? [])
        assert.ok(optional.includes(absent), `${name}: ${absent} is required`);
    }
  }
});

test('every optional operand is absent in one case and present in another', () => {
  for (const [name, { cases, inputs, outputs }] of contracts) {
    for (const operand of [...inputs, ...outputs].filter((each) => each.optional)) {
      const left = cases.filter((parityCase) => parityCase.absent?.includes(operand.name)).length;
      assert.ok(
        left > 0 && left < cases.length,
        `${name}: ${operand.name} is absent in ${left} of ${cases.length} cases`,
      );
    }
  }
});

test('every kernel has a case of a single element and one of an odd number of them', () => {
  for (const [name, { cases, inputs, outputs }] of contracts) {
    const largest = inputs.at(0) ?? outputs[0];
    const sizes = cases.map(({ params }) => elementCount(largest.shape(params)));
    // Packed queries, keys and values of a position are three elements at least, gates of a recurrent one too: there it is the output.
    const packed = name === 'attention' || name === 'recurrence';
    const smallest = cases.map(({ params }) => elementCount((packed ? outputs[0] : largest).shape(params)));
    // Places turn pairs.
    assert.ok(smallest.includes(name === 'rotary' ? 2 : 1), `${name}: no case of one element`);
    assert.ok(
      sizes.some((size) => size > 1 && size % 2 === 1),
      `${name}: ${largest.name} has even sizes ${sizes}`,
    );
  }
});

test('kernels that know the step are tested beyond step 0', () => {
  for (const [name, { usesStep, cases }] of contracts) {
    assert.equal(
      cases.some((parityCase) => (parityCase.step ?? 0) > 0),
      usesStep ?? false,
      name,
    );
  }
});
