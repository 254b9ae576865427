// How large a cluster a training is worth: doublings as far as each device is worth having, and the cheapest of those that are about as quick.

import assert from 'node:assert/strict';
import test from 'node:test';
import { launchOf, kubernetesSource, slurmSource } from '../../engine/export/torch/cluster/launchers.ts';
import { readCatalogue } from '../../engine/hardware/catalogue/catalogue.ts';
import { trusted } from '../../engine/hardware/catalogue/figures.ts';
import { clusterOf, clusterWords } from '../../engine/hardware/cluster.ts';
import { subjectNamed } from '../../engine/hardware/costs/familiar.ts';

const { catalogue } = readCatalogue();

test('a large training takes a box, a small one a card; what is not worth having ends the list', () => {
  const large = clusterOf(subjectNamed('resnet50', { batch: 256, rows: 1_281_167 }), 90, catalogue);
  assert.equal(large.taken?.devices, 8);
  const small = clusterOf(subjectNamed('small', { batch: 32, rows: 1000 }), 10, catalogue);
  assert.equal(small.taken?.devices, 1);
  for (const { sizes } of [large, small]) {
    for (const card of new Set(sizes.map(({ device }) => device))) {
      const own = sizes.filter(({ device }) => device === card);
      assert.deepEqual(
        own.map(({ devices }) => devices),
        [1, 2, 4, 8].slice(0, own.length),
      );
      assert.equal(own[0].efficiency, 1);
      assert.ok(
        own.slice(0, -1).every(({ efficiency }) => efficiency >= 0.7),
        'only the last is not worth having',
      );
      // Twice the devices at their efficiency: seconds of one over speed-up.
      for (const { devices, seconds, efficiency } of own)
        assert.ok(Math.abs(seconds * devices * efficiency - own[0].seconds) < 1e-9 * own[0].seconds);
    }
  }
});

test('the whole instance is paid, and the words are those of the forecast', () => {
  const size = { device: 'A100', devices: 4, seconds: 7560, most: 9000, efficiency: 0.61, money: 28 };
  assert.equal(clusterWords(size), '4 × A100: 2.1 h, 61 % efficient, $28.00');
  assert.equal(clusterWords({ ...size, devices: 1, seconds: 75, money: null }), '1 × A100: 75 s');
  const { sizes } = clusterOf(subjectNamed('resnet50', { batch: 256, rows: 1_281_167 }), 90, catalogue);
  const two = sizes.find(({ device, devices }) => device === 'H100 SXM' && devices === 2)!;
  // No instance of two is known: one of eight is rented.
  const boxes = catalogue.offers.filter(
    ({ device, count, onDemand }) => device === 'h100-sxm' && count === 8 && trusted(onDemand),
  );
  const perHour = Math.min(...boxes.map(({ onDemand }) => onDemand.value));
  assert.ok(Math.abs(two.money! - (perHour * two.seconds) / 3600) < 1e-9, `${two.money}`);
});

test('launchers ask for what the forecast takes, and for time to spare', () => {
  const launch = launchOf(7, { device: 'A100', devices: 4, seconds: 7560, most: 9000, efficiency: 0.61, money: 28 });
  assert.deepEqual(launch, { name: 'trainyard-run-7', nodes: 1, cards: 4, hours: 5 });
  assert.match(slurmSource(launch), /--gpus-per-node=4\n[^]*--time=5:00:00\n[^]*exec srun torchrun/);
  assert.match(kubernetesSource(launch), /completions: 1\n[^]*nvidia\.com\/gpu: 4\n/);
  assert.equal(launchOf(7, null).cards, 1);
});
