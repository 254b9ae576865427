// The formulas of docs/hardware.md against worked examples: each test is one sum done by hand, with its published or derived result.

import assert from 'node:assert/strict';
import test from 'node:test';
import { crossoverBatch, crossoverFlops, fitLinearCost, linearTime } from '../../engine/hardware/formulas/crossover.ts';
import { carbon, energy, energyCost, sockets } from '../../engine/hardware/formulas/energy.ts';
import {
  convolutionTrainingFlops,
  denseParameters,
  denseTrainingFlops,
  denseWeights,
  productMultiplyAdds,
  transformerTrainingFlops,
} from '../../engine/hardware/formulas/flops.ts';
import {
  deepspeedStage2,
  deepspeedStage3,
  fitOf,
  fourTimesWeights,
  gibibyte,
  keptActivations,
  logitBytes,
  modelStates,
  transformerActivations,
  transformerLayerActivations,
  zeroStates,
  type ZeroStage,
} from '../../engine/hardware/formulas/memory.ts';
import {
  breakEvenHours,
  checkpointInterval,
  costAt,
  effectiveSpotPrice,
  spotOverhead,
  yearsOfUse,
} from '../../engine/hardware/formulas/money.ts';
import {
  amdahl,
  busBandwidth,
  dataParallel,
  devicesWorthwhile,
  examplesFactor,
  gustafson,
  languageCriticalBatch,
  noiseScale,
  parallelEfficiency,
  ringAllReduce,
  ringGather,
  serialShare,
  stepsFactor,
} from '../../engine/hardware/formulas/parallel.ts';
import {
  attainable,
  cpuPeak,
  intensity,
  productWork,
  ridge,
  rooflineTime,
} from '../../engine/hardware/formulas/roofline.ts';

/** Equal to as many digits as the expected number is written with. */
function about(actual: number, expected: string): void {
  const decimals = expected.split('.')[1]?.length ?? 0;
  assert.equal(actual.toFixed(decimals), expected);
}
const resnet50 = 25_557_032;
const mlp = [784, 256, 128, 10];

test('model states: ResNet-50 and a small MLP', () => {
  const adam = modelStates(resnet50, 'adam', 'float32');
  about(adam.weights / 1e6, '102.2');
  about(adam.total / 1e6, '408.9');
  about(modelStates(resnet50, 'momentum', 'float32').total / 1e6, '306.7');
  assert.equal(modelStates(1, 'sgd', 'float32').total, 8);
  assert.equal(modelStates(1, 'adam', 'mixed16').total, 16);
  assert.equal(modelStates(1, 'adam', 'mixed16-torch').total, 18);
  assert.equal(modelStates(1, 'adam8bit', 'float32').optimizer, 2);
  assert.equal(denseParameters(mlp), 235_146);
  assert.equal(modelStates(denseParameters(mlp), 'adam', 'float32').total, 3_762_336);
});

test('ZeRO: 7.5e9 parameters on 64 ranks take 120, 31.4, 16.6 and 1.9 GB', () => {
  const stages: readonly (readonly [ZeroStage, string])[] = [
    [0, '120.0'],
    [1, '31.4'],
    [2, '16.6'],
    [3, '1.9'],
  ];
  for (const [stage, gigabytes] of stages) about(zeroStates(7.5e9, 64, stage) / 1e9, gigabytes);
});

test('DeepSpeed’s estimates: t5-3b in stage 2, t5-small in stage 3', () => {
  about(deepspeedStage2(2851e6, 8, false).device / gibibyte, '15.93');
  const offloaded = deepspeedStage2(2851e6, 8, true);
  about(offloaded.device / gibibyte, '5.31');
  about(offloaded.host / gibibyte, '127.4');
  about(deepspeedStage3(60.5e6, 16.4e6, 1) / gibibyte, '1.08');
});

test('four times the weights: 27.49 GB become 109.96', () => about(fourTimesWeights(27.49), '109.96'));

test('activations of an MLP and of ResNet-50', () => {
  assert.equal(keptActivations(784 + 256 + 128 + 10, 64), 301_568);
  // 21.07 million values an image, and the places of pooled maxima as 64-bit integers.
  const images = (batch: number, bytes: number): number =>
    (keptActivations(21.07e6, batch, bytes) + keptActivations(64 * 56 * 56, batch, 8)) / 1e9;
  about(images(1, 4) * 1e3, '85.9');
  about(images(32, 4), '2.75');
  about(images(112, 4), '9.62');
  about(images(256, 2), '11.2');
});

test('activations of transformers: GPT-3, BERT, GPT-2', () => {
  const gpt3 = { sequence: 2048, hidden: 12288, heads: 96, layers: 96 };
  about(transformerLayerActivations(gpt3, 1) / 1e9, '2.869');
  about(transformerActivations(gpt3, 1) / 1e9, '275.4');
  about(transformerActivations(gpt3, 1, 'full') / 1e9, '4.83');
  assert.equal(transformerLayerActivations(gpt3, 1, 'selective'), 34 * 2048 * 12288);
  about(transformerActivations({ sequence: 512, hidden: 1024, heads: 16, layers: 24 }, 32) / 1e9, '29.8');
  about(transformerActivations({ sequence: 128, hidden: 768, heads: 12, layers: 12 }, 32) / 1e9, '1.66');
  about(transformerActivations({ sequence: 1024, hidden: 768, heads: 12, layers: 12 }, 8) / 1e9, '8.61');
  about(logitBytes(8, 1024, 50257) / 1e9, '1.65');
});

test('a plan is warned of above 80 % of free memory and refused above 90 %', () => {
  assert.deepEqual(
    [80, 85, 91].map((needed) => fitOf(needed, 100)),
    ['fits', 'tight', 'too large'],
  );
});

test('FLOP: an MLP, ResNet-50, one product, a transformer', () => {
  about(denseTrainingFlops(mlp, 64, true) / 1e6, '90.14');
  about(denseTrainingFlops(mlp, 64) / 1e6, '64.45');
  about((2 * 4.089e9) / 1e9, '8.18');
  about(convolutionTrainingFlops(2 * 4.089e9) / 1e9, '24.5');
  assert.equal(productMultiplyAdds(256, 1024, 2048), 536_870_912);
  // GPT-3: 6 N a token for 300e9 tokens is 3.15e23, plus 3 % of attention.
  const token = transformerTrainingFlops({ parameters: 175e9, layers: 0, hidden: 12288, sequence: 2048 });
  assert.equal((token * 300e9).toExponential(2), '3.15e+23');
  assert.equal(transformerTrainingFlops({ parameters: 3, layers: 0, hidden: 1, sequence: 1 }, true), 24);
});

test('ridges of known devices', () => {
  const ridges: readonly (readonly [number, number, string])[] = [
    [312, 2039, '153'],
    [989, 3350, '295'],
    [165.2, 1008, '164'],
    [65, 320, '203'],
    [18.4, 546, '34'],
  ];
  for (const [teraflops, gigabytes, flopsPerByte] of ridges) {
    about(ridge({ rate: teraflops * 1e12, bandwidth: gigabytes * 1e9 }), flopsPerByte);
  }
  about(ridge({ rate: 19.5e12, bandwidth: 2039e9 }), '9.6');
  assert.equal(attainable(10, { rate: 100, bandwidth: 4 }), 40);
});

test('1000³: 20.8 ms at 96 GFLOP/s, 1.30 ms at the real peak of 16 cores', () => {
  const { flops } = productWork(1000, 1000, 1000);
  assert.equal(flops, 2e9);
  about(rooflineTime({ flops, bytes: 0 }, { rate: 96e9, bandwidth: 1 }).seconds * 1e3, '20.8');
  const rate = cpuPeak(16, 3e9, 32);
  about(rate / 1e12, '1.536');
  about(rooflineTime({ flops, bytes: 0 }, { rate, bandwidth: 1 }).seconds * 1e3, '1.30');
});

test('256×1024 by 1024×2048 in 16 bits is barely held back by arithmetic on an A100', () => {
  const work = productWork(256, 1024, 2048, 2);
  about(work.bytes / 1e6, '5.77');
  about(intensity(work), '186');
  const time = rooflineTime(work, { rate: 312e12, bandwidth: 2039e9 });
  about(time.compute * 1e6, '3.4');
  about(time.memory * 1e6, '2.8');
  assert.equal(time.heldBackBy, 'arithmetic');
});

test('a matrix times a vector is 25 to 40 times faster on an A100, not 300', () => {
  const work = { flops: 2e6, bytes: 4e6 };
  const microseconds = (rate: number, bandwidth: number): number =>
    rooflineTime(work, { rate, bandwidth }).seconds * 1e6;
  about(microseconds(19.5e12, 2039e9), '2.0');
  about(microseconds(1.5e12, 50e9), '80');
  about(microseconds(1.5e12, 80e9), '50');
});

test('a small MLP waits for launches: 0.13 ms with CUDA, 0.76 with WebGPU, 1.29 on a slow CPU', () => {
  const work = { flops: denseTrainingFlops(mlp, 64), bytes: 0 };
  const roof = { rate: 10e12, bandwidth: 1 };
  const cuda = rooflineTime(work, roof, { launches: 25, launchSeconds: 5e-6 });
  about(cuda.seconds * 1e3, '0.13');
  assert.equal(cuda.heldBackBy, 'launches');
  about(rooflineTime(work, roof, { launches: 25, launchSeconds: 30e-6 }).seconds * 1e3, '0.76');
  about(rooflineTime(work, { rate: 50e9, bandwidth: 1 }).seconds * 1e3, '1.29');
});

test('crossover: 25.25 MFLOP, batch 1,253 of a net of 3,360 weights', () => {
  const cpu = { overhead: 50e-6, rate: 100e9 };
  const gpu = { overhead: 300e-6, rate: 10e12 };
  const flops = crossoverFlops(cpu, gpu);
  about(flops / 1e6, '25.25');
  assert.equal(denseWeights([20, 64, 32, 1]), 3360);
  assert.equal(crossoverBatch(flops, 6 * 3360), 1253);
  assert.equal(crossoverFlops(cpu, { overhead: 1, rate: 1e9 }), Infinity);
  assert.equal(crossoverFlops(gpu, { overhead: 0, rate: 20e12 }), 0);
  const timed = (at: number): { flops: number; seconds: number } => ({ flops: at, seconds: linearTime(gpu, at) });
  const fitted = fitLinearCost(timed(1e9), timed(1e10));
  about(fitted!.overhead * 1e6, '300');
  about(fitted!.rate / 1e12, '10');
  assert.equal(fitLinearCost({ flops: 1, seconds: 2 }, { flops: 2, seconds: 2 }), null);
});

test('ring all-reduce of ResNet-50’s gradients over 8 devices, and what it leaves of a step', () => {
  const step = 256 / 1200;
  const links: readonly (readonly [number, string, string])[] = [
    [130e9, '1.38', '99.4'],
    [20e9, '8.94', '96.0'],
    [1.1e9, '163', '56.7'],
  ];
  for (const [bandwidth, milliseconds, percent] of links) {
    const seconds = ringAllReduce(4 * resnet50, 8, bandwidth);
    about(seconds * 1e3, milliseconds);
    about(parallelEfficiency(step, seconds) * 100, percent);
  }
  about(ringAllReduce(14e9, 8, 20e9) * 1e3, '1225');
  about(ringAllReduce(14e9, 8, 366e9) * 1e3, '67');
  about(busBandwidth(14e9, 8, ringAllReduce(14e9, 8, 366e9)) / 1e9, '366');
  assert.equal(ringGather(8, 8, 1), 7);
});

test('Amdahl and Gustafson: 5.93 and 7.65 of 8 at a serial share of 5 %, and shares read back', () => {
  about(amdahl(0.05, 8), '5.93');
  about(gustafson(0.05, 8), '7.65');
  about(serialShare(6.72, 8), '0.027');
  about(serialShare(7.9, 8), '0.0018');
});

test('critical batch: twice the steps and examples at it, 1.25 and 5 at four times it', () => {
  assert.deepEqual([stepsFactor(1, 1), examplesFactor(1, 1)], [2, 2]);
  assert.deepEqual([stepsFactor(4, 1), examplesFactor(4, 1)], [1.25, 5]);
  about(languageCriticalBatch(3) / 1e6, '1.07');
  assert.equal(noiseScale(8, 2), 2);
});

test('data parallel stops paying where summing or the input takes over', () => {
  const slow = { compute: 256 / 1200, gradientBytes: 4 * resnet50, bandwidth: 1.1e9 };
  assert.equal(devicesWorthwhile(dataParallel(slow, 16)), 1);
  const fast = dataParallel({ ...slow, bandwidth: 130e9 }, 16);
  assert.ok(devicesWorthwhile(fast) === 16, 'summing takes 1.4 ms of 15');
  const fed = dataParallel({ ...slow, bandwidth: 130e9, batch: 256, inputRate: 4800 }, 16);
  assert.equal(fed[15].step, 256 / 4800);
  about(fed[15].speedup, '4.0');
  assert.equal(devicesWorthwhile(fed), 5);
});

test('buy or rent: 653.6 h, and what it leaves out', () => {
  const plain = { card: 2000 };
  const powered = { ...plain, power: 0.35, tariff: 0.18 };
  about(breakEvenHours(plain, 3.06), '653.6');
  about(breakEvenHours(powered, 3.06), '667');
  about(breakEvenHours({ ...powered, host: 1500 }, 3.06), '1168');
  about(breakEvenHours(powered, 0.79), '2751');
  about(breakEvenHours({ ...powered, host: 1500 }, 0.79), '4814');
  const rtx4090 = { card: 2000, power: 0.45, tariff: 0.1802 };
  about(breakEvenHours(rtx4090, 0.34), '7725');
  about(yearsOfUse(breakEvenHours(rtx4090, 0.34), 0.1), '8.8');
  about(breakEvenHours(rtx4090, 0.69), '3285');
  const h100 = { card: 25_250, power: 0.35, tariff: 0.1802 };
  about(breakEvenHours(h100, 1.99), '13104');
  about(breakEvenHours(h100, 6.88), '3704');
  assert.equal(breakEvenHours({ card: 100, power: 1, tariff: 1 }, 0.5), Infinity);
  assert.equal(breakEvenHours({ card: 100, resale: 100 }, 0.5), 0);
});

test('spot: a minute a checkpoint and an interruption in 10 h ask for one every 34.6 min, at 5.8 %', () => {
  about(checkpointInterval(1, 600), '34.6');
  about(spotOverhead(1, 600) * 100, '5.8');
  about(effectiveSpotPrice(1, spotOverhead(1, 600)), '1.06');
});

test('four ways to pay meet where they should', () => {
  const ways = { purchase: { card: 2000 }, onDemand: 3.06, spot: { price: 1, overhead: 0.1 }, ownShare: 0.5 };
  const at = costAt(ways, 2000 / 3.06);
  about(at.own, '2000');
  about(at.onDemand, '2000');
  about(at.spot!, '719');
  about(at.hybrid, '3000');
  assert.equal(costAt({ purchase: { card: 1 }, onDemand: 1 }, 1).spot, null);
});

test('energy, its price and its carbon', () => {
  const used = energy({ device: 450, host: 70 }, 10);
  about(used, '5.2');
  about(energyCost(used, 0.1802), '0.94');
  about(carbon(used, 369), '1.92');
  about(carbon(used, 56), '0.29');
  about(carbon(used, 713), '3.71');
  assert.deepEqual(sockets, { us: 1440, eu: 2944 });
});

test('GPT-3: 10,000 V100 for 14.8 days are 1289 MWh, 552 t', () => {
  const used = 10_000 * energy({ device: 330 }, 14.8 * 24, 1.1);
  about(used / 1e3, '1289');
  // The published 1287 MWh gives the published tonnes.
  about(carbon(1287e3, 429) / 1e3, '552');
});
