// The counter-based generator against the known answers of its authors (Random123, tests/kat_vectors), and the CPU's twin
// of it, through dropout's mask, in tests/parity.

import assert from 'node:assert/strict';
import test from 'node:test';
import { threefry2x32, threefry2x32Into } from '../../kernels/threefry.ts';

const known = [
  { key: [0, 0], counter: [0, 0], words: [0x6b200159, 0x99ba4efe] },
  { key: [0xffffffff, 0xffffffff], counter: [0xffffffff, 0xffffffff], words: [0x1cb996fc, 0xbb002be7] },
  { key: [0x13198a2e, 0x03707344], counter: [0x243f6a88, 0x85a308d3], words: [0xc4923a9c, 0x483df7a0] },
];

test('threefry2x32 gives the known answers', () => {
  for (const { key, counter, words } of known) {
    assert.deepEqual(threefry2x32(key[0], key[1], counter[0], counter[1]), words);
  }
});

test('keys and counters are taken modulo 2³²: −1 is 0xffffffff', () => {
  assert.deepEqual(threefry2x32(-1, -1, -1, -1), known[1].words);
});

test('threefry2x32Into writes the same words where it is told, and nothing else', () => {
  const words = new Uint32Array(4);
  threefry2x32Into(words, 1, 1, 2, 3, 4);
  assert.deepEqual([...words], [0, ...threefry2x32(1, 2, 3, 4), 0]);
});
