// What the Roofline tab says of a model: parts that add up to the step, points that are arithmetic, and what another batch would do.

import assert from 'node:assert/strict';
import test from 'node:test';
import { deviceByLab } from '../../engine/hardware/calibration.ts';
import { subjectNamed } from '../../engine/hardware/costs/familiar.ts';
import { ridge } from '../../engine/hardware/formulas/roofline.ts';
import { stepTime } from '../../engine/hardware/time-forecast.ts';
import { roofOf, roofShare, stepApart, stepWords } from '../../renderer/views/hardware/roofline/parts.ts';
import { workstation } from './fixtures/workstation.ts';

const gpu = workstation.devices.find(({ id }) => id === 'gpu-0')!;
const [timed, roof] = [deviceByLab(gpu), roofOf(gpu)];
const close = (a: number, b: number): void => assert.ok(Math.abs(a - b) <= 1e-9 * Math.abs(b), `${a} is not ${b}`);

test('the roofs are the best product and the copy beyond all caches', () => {
  close(roof.rate, 10.8e12);
  close(roof.bandwidth, 447e9);
  assert.equal(Math.round(ridge(roof)), 24);
});

for (const name of ['small', 'medium', 'resnet20', 'resnet50', 'bert-base']) {
  test(`${name}: parts and starts add up to the step, each point is its work by its time`, () => {
    const costs = subjectNamed(name, {}).costs(32);
    const step = stepApart(costs, timed, roof);
    close(step.seconds, stepTime(costs, timed).seconds);
    close(
      step.parts.reduce((sum, { seconds }) => sum + seconds, 0),
      step.seconds,
    );
    close(
      step.parts.reduce((sum, { share }) => sum + share, 0),
      1,
    );
    close(
      step.parts.reduce((sum, { flops }) => sum + flops, 0),
      32 * costs.flopsPerExample,
    );
    assert.ok(step.parts.length <= 16, `${step.parts.length} rows`);
    assert.equal(new Set(step.parts.map(({ id }) => id)).size, step.parts.length);
    const ids = new Set(step.parts.map(({ id }) => id));
    for (const { part, intensity, rate, share } of step.points) {
      assert.ok(ids.has(part), `the table has ${part}`);
      assert.ok(intensity > 0 && rate > 0 && share >= 0 && share < 1);
    }
    assert.ok(
      step.points.some(({ phase }) => phase === 'forward') && step.points.some(({ phase }) => phase === 'backward'),
    );
    for (const { flops, bytes, limit, ofRoof } of step.parts) {
      if (limit === 'memory') assert.ok(flops / bytes < ridge(roof) && ofRoof! >= 0.25);
      if (limit === 'arithmetic') assert.ok(flops / bytes >= ridge(roof) && ofRoof! >= 0.25);
      if (limit === 'size') assert.ok(ofRoof! < 0.25);
    }
  });
}

test('a larger batch saves starts of calls and fills the device, and the sentence adds up', () => {
  const { costs } = subjectNamed('small', {});
  const [step, other] = [stepApart(costs(32), timed, roof), stepApart(costs(64), timed, roof)];
  const { title, detail, reading } = stepWords(step, other, 'GPU', roof);
  const gain = 100 * (1 - other.seconds / 64 / (step.seconds / 32));
  const words = /^(\d+).% of the step waits for memory\. Batch 64 would be ([\d.]+).% quicker an example\.$/.exec(
    title,
  );
  assert.ok(words, title);
  assert.equal(Number(words[1]), Math.round(100 * step.waiting));
  assert.ok(Math.abs(Number(words[2]) - gain) <= 0.5, `${words[2]} is not ${gain}`);
  const saved = [...detail.matchAll(/([\d.]+).% by /g)].reduce((sum, [, share]) => sum + Number(share), 0);
  assert.ok(Math.abs(saved - gain) < 1, `${detail} is not ${gain}`);
  assert.match(detail, /fewer starts of calls an example/);
  assert.ok(reading.some(([, said]) => /calls too small to fill the GPU/.test(said)));
  assert.match(stepWords(step, step, 'GPU', roof).title, /Batch 32 would change nothing\.$/);
  const large = stepApart(subjectNamed('bert-base', {}).costs(32), timed, roof);
  const [[about, said]] = stepWords(large, large, 'GPU', roof).reading;
  assert.match(`${about}: ${said}`, /^Additions and activations: .* FLOP for each byte; the GPU needs 24\.2 before/);
});

test('over the roof: what the caches hold, and what Winograd’s transforms spare', () => {
  const processor = workstation.devices.find(({ kind }) => kind === 'cpu')!;
  const measured = roofOf(processor);
  // As where its products were measured beside other programs.
  const own = { ...measured, rate: 0.8 * measured.rate };
  const step = stepApart(subjectNamed('resnet20', {}).costs(32), deviceByLab(processor), own);
  const over = step.parts.filter(({ ofRoof }) => (ofRoof ?? 0) > 1.05);
  const said = new Map(over.map((part) => [part.limit, roofShare(part)]));
  assert.match(said.get('arithmetic') ?? '', /^1\d\d.%$/);
  assert.equal(said.get('memory'), 'in cache');
  const { reading } = stepWords(step, step, 'CPU', own);
  assert.match(reading.map(([, words]) => words).join(), /at 1\d\d.% of the roof, as Winograd’s transforms spare/);
});
