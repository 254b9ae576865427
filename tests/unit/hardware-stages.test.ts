// One model over several devices on paper, against sums done by hand: where it is cut, what crosses, what a pipeline takes.

import assert from 'node:assert/strict';
import test from 'node:test';
import { subjectNamed } from '../../engine/hardware/costs/familiar.ts';
import { crossings, placedLayers, stagesOf, type PlacedLayer } from '../../engine/hardware/stages.ts';

const layer = (id: string, seconds: number, outputBytes: number, ...inputs: readonly number[]): PlacedLayer => ({
  ...{ id, seconds, outputBytes, inputs },
  ...{ parameterBytes: 10, keptBytes: 100, starts: 0 },
});
/** a → b → c → d, and a shortcut from a to c. */
const four = [layer('a', 3, 8, -1), layer('b', 2, 16, 0), layer('c', 4, 4, 1, 0), layer('d', 1, 2, 2)];

test('what crosses: each output that is read beyond, once, and its gradient back; a shortcut too', () => {
  assert.deepEqual(crossings(four, 64), [2 * 8, 2 * (16 + 8), 2 * 4, 0]);
  // An input that is read behind the cut crosses without a gradient.
  assert.deepEqual(crossings([layer('a', 1, 8, -1), layer('b', 1, 2, 0, -1)], 64), [2 * 8 + 64, 0]);
});

test('the slowest device is as quick as it can be, and the pipeline fills and drains', () => {
  const link = { name: 'wire', bandwidth: 48, latency: 0 };
  const { stages, atOnce, parts, piped, waiting } = stagesOf(four, 64, { devices: 2, batch: 32, link });
  assert.deepEqual(
    stages.map(({ from, to, seconds, crossing, parameterBytes, keptBytes }) => [
      from,
      to,
      seconds,
      crossing,
      parameterBytes,
      keptBytes,
    ]),
    [
      ['a', 'b', 5, 48, 20, 200],
      ['c', 'd', 5, 0, 20, 200],
    ],
  );
  assert.equal(atOnce, 3 + 2 + 4 + 1 + 48 / 48);
  // 8 parts of 5/8 s each, and one more for the second device to begin.
  assert.deepEqual([parts, piped, waiting], [8, (9 * 5) / 8, 1 / 9]);
  // Over a slow wire the crossing decides: 48 bytes in 8 parts at 1 byte a second.
  assert.equal(stagesOf(four, 64, { devices: 2, batch: 32, link: { ...link, bandwidth: 1 } }).piped, 9 * 6);
  assert.equal(stagesOf(four, 64, { devices: 2, batch: 3, link }).parts, 3, 'no part is less than an example');
  // Starting a call takes as long for a part: of 5 s of each device 1 + 1 do not divide.
  const started = four.map((one) => ({ ...one, starts: 1 }));
  assert.equal(stagesOf(started, 64, { devices: 2, batch: 32, link }).piped, 9 * (2 + 3 / 8));
  assert.throws(() => stagesOf(four, 64, { devices: 5, batch: 3, link }), /5 devices for 4 layers/);
});

test('of equally quick cuts the one that sends least', () => {
  const layers = [layer('a', 2, 100, -1), layer('b', 0, 1, 0), layer('c', 2, 5, 1)];
  const link = { name: 'wire', bandwidth: 1e9 };
  assert.equal(stagesOf(layers, 0, { devices: 2, batch: 1, link }).stages[0].to, 'b');
});

test('of a model at hand all weights, work and memory are laid out, none twice', () => {
  const subject = subjectNamed('resnet20', { batch: 64 });
  const costs = subject.costs(64);
  const { layers } = placedLayers(subject, (calls) => ({
    seconds: calls.reduce((sum, { flops }) => sum + flops, 0),
    starts: 0,
  }))!;
  const sum = (of: (one: PlacedLayer) => number): number => layers.reduce((total, one) => total + of(one), 0);
  assert.equal(
    sum(({ parameterBytes }) => parameterBytes),
    4 * costs.parameters,
  );
  assert.ok(Math.abs(sum(({ seconds }) => seconds) / (costs.flopsPerExample * 64) - 1) < 1e-9);
  const kept = costs.activations.reduce((bytes, { values, indexBytes }) => bytes + 4 * values + indexBytes, 0);
  assert.equal(
    sum(({ keptBytes }) => keptBytes),
    kept,
  );
  assert.equal(
    placedLayers(subjectNamed('gpt3', {}), () => ({ seconds: 0, starts: 0 })),
    null,
  );
});

test('frozen layers lie on a device with all their weights, but take nothing of the update', () => {
  const subject = subjectNamed('resnet20', { batch: 64 });
  const model = { ...subject.model!, training: { ...subject.model!.training, frozenLayers: 4 } };
  const { layers } = placedLayers({ ...subject, model }, (calls) => ({
    seconds: calls.filter(({ phase }) => phase === 'update').length,
    starts: 0,
  }))!;
  const whole = layers.reduce((sum, { seconds }) => sum + seconds, 0);
  assert.ok(layers.slice(0, 4).some(({ parameterBytes }) => parameterBytes > 0));
  assert.ok(layers.slice(0, 4).every(({ seconds }) => seconds === 0));
  const updates = subject.costs(64).calls.filter(({ phase }) => phase === 'update').length;
  assert.ok(updates > 0 && Math.abs(whole - updates) < 1e-9, `${whole} of ${updates}`);
});
