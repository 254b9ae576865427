// The plan's verifier: what a compiler could get wrong is named with its program, call and operand before anything runs.

import assert from 'node:assert/strict';
import test from 'node:test';
import type { Call, CallOperand, Plan } from '../../engine/plan/plan.ts';
import { regroups, verifyPlan } from '../../engine/plan/verify.ts';
import { handMadePlan } from '../support/hand-made.ts';

/** y = tanh(x · w + b) · v */
const { plan } = handMadePlan({
  inputs: 6,
  batch: 4,
  parameters: { w: [6, 5], b: [5], v: [5, 1] },
  build: ({ graph, tensor }, x) => {
    const hidden = graph.one('dense', [x, tensor('w'), tensor('b')], { activation: 'none', slope: 0 });
    const bent = graph.one('activation', [hidden], { activation: 'tanh', slope: 0 });
    return graph.one('dense', [bent, tensor('v'), null], { activation: 'none', slope: 0 });
  },
});
const program = 'train@4';

/** The plan with the calls of the training program changed. */
function withCalls(change: (calls: readonly Call[]) => readonly Call[]): Plan {
  const old = plan.programs[program];
  return { ...plan, programs: { ...plan.programs, [program]: { ...old, calls: change(old.calls) } } };
}

/** The plan with one operand of the first call of a kernel changed. */
function withOperand(kernel: string, side: 'inputs' | 'outputs', index: number, change: Partial<CallOperand>): Plan {
  return withCalls((calls) => {
    const at = calls.findIndex((call) => call.kernel === kernel);
    const operands = calls[at][side].map((ref, i) => (i === index && ref ? { ...ref, ...change } : ref));
    return calls.map((call, i) => (i === at ? { ...call, [side]: operands } : call));
  });
}

test('1. a plan as it is compiled passes', () => verifyPlan(plan));

test('2. an operand of the right size and another shape is refused', () => {
  const wrong = withOperand('matmul', 'inputs', 1, { shape: [5, 6] });
  assert.throws(() => verifyPlan(wrong), /train@4 call 1 \(matmul\): operand b has to be \[6,5\], it is \[5,6\]/);
});

test('3. an operand of another element type is refused', () => {
  const { slot } = plan.tensors['step.counters'];
  const wrong = withOperand('regression_loss', 'inputs', 1, { slot, offset: 0 });
  assert.throws(() => verifyPlan(wrong), /operand target is f32, its slot “step.counters” u32/);
});

test('4. a gradient that nobody writes is refused, and so is one of which a part is missing', () => {
  const writer = (calls: readonly Call[]): number => calls.findIndex((call) => call.kernel === 'dense_weight_grad');
  const without = withCalls((calls) => calls.filter((_, i) => i !== writer(calls)));
  assert.throws(() => verifyPlan(without), /train@4: not all of gradient:made.v \[5,1\] is written/);
  const half = withCalls((calls) =>
    calls.map((call, i) => {
      if (i !== writer(calls)) return call;
      const params = { rows: 1, columns: 3, sourceWidth: 5, sourceOffset: 0, targetWidth: 5, targetOffset: 0 };
      const row = { ...call.inputs[0]!, shape: [1, 5] };
      return { kernel: 'copy_columns', inputs: [row], outputs: [call.outputs[0]], params };
    }),
  );
  assert.throws(() => verifyPlan(half), /train@4: not all of gradient:made.v \[5,1\] is written/);
});

test('5. an offset that no binding can have is refused, in bytes', () => {
  const wrong = withOperand('matmul', 'inputs', 1, { offset: 32 });
  assert.throws(() => verifyPlan(wrong), /operand b starts at element 32, no multiple of 256 bytes/);
});

test('6. shapes fit when one is the other with neighbouring dimensions joined', () => {
  const cases: readonly [readonly number[], readonly number[], boolean][] = [
    [[8, 3, 5, 5], [24, 25], true],
    [[8, 3, 5, 5], [600], true],
    [[4, 6], [6, 4], false],
    [[4, 6], [4, 3, 2], true],
    [[4, 6], [2, 12], false],
    [[2, 12], [2, 3, 4], true],
    [[7], [7, 1], true],
    [[1], [], true],
    [[0, 3], [0], true],
    [[5], [6], false],
  ];
  for (const [a, b, fits] of cases) {
    assert.equal(regroups(a, b), fits, `${a.join('×')} and ${b.join('×')}`);
    assert.equal(regroups(b, a), fits);
  }
});
