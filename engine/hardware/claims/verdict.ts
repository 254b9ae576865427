// Claims against evidence: pure functions from a claim and what is known of this machine to a verdict with its numbers. The same
// claim may hold on one machine and not on another; where nothing was measured the verdict is `not tested`.

import { deviceFigureNames, type DeviceFigure } from '../catalogue/schema.ts';
import { productMultiplyAdds } from '../formulas/flops.ts';
import { keptActivations, modelStates } from '../formulas/memory.ts';
import { breakEvenHours } from '../formulas/money.ts';
import { parallelEfficiency, ringAllReduce } from '../formulas/parallel.ts';
import type { Claim, ClaimTest } from './claim.ts';
import { best, cpuOf, gpuOf, latency, nearest, ratios, type Evidence } from './evidence.ts';

export interface Verdict {
  readonly verdict: 'holds' | 'too simple' | 'wrong here' | 'not tested';
  /** By how much it is off: above 1 it says too much, below 1 too little. */
  readonly factor?: number;
  readonly sentence: string;
  /** The numbers that decide, by name. */
  readonly figures: Readonly<Record<string, number>>;
}

type Test = (claim: Claim, evidence: Evidence) => Verdict;

/** The verdict on a claim by what is known. */
export const verdict: Test = (claim, evidence) => tests[claim.test](claim, evidence);

const notTested = (sentence: string): Verdict => ({ verdict: 'not tested', sentence, figures: {} });
const noLab = notTested('Measure this machine first.');
const noGpu = notTested('No GPU was measured here.');

/** Four digits at most, for sentences. */
const short = (value: number): string => String(Number(value.toPrecision(value >= 1000 ? 4 : 3)));

/** A number said against the one found: within a fifth it holds, within a factor 3 it is too simple. */
function against(said: number, found: number, sentence: string, figures: Verdict['figures']): Verdict {
  const factor = said / found;
  const off = Math.max(factor, 1 / factor);
  if (off <= 1.2) return { verdict: 'holds', sentence, figures };
  return { verdict: off <= 3 ? 'too simple' : 'wrong here', factor, sentence, figures };
}

const says = (claim: Claim, name: string): number => {
  const value = claim.saysWhat[name];
  if (value === undefined) throw new Error(`Claim ${claim.id} says nothing of ${name}.`);
  return value;
};

const byWords: Readonly<Record<Claim['verdictInPrinciple'], Verdict['verdict']>> = {
  true: 'holds',
  outdated: 'too simple',
  simple: 'too simple',
  unsourced: 'too simple',
  wrong: 'wrong here',
};

const text: Test = ({ verdictInPrinciple, words }) => ({
  verdict: byWords[verdictInPrinciple],
  sentence: words,
  figures: {},
});

const cores: Test = (claim, { lab }) => {
  if (!lab) return noLab;
  const inside = lab.machine.cores >= says(claim, 'low') && lab.machine.cores <= says(claim, 'high');
  const sentence = `This machine has ${lab.machine.cores}. ${claim.words}`;
  return { verdict: inside ? 'holds' : 'too simple', sentence, figures: { cores: lab.machine.cores } };
};

const threads: Test = (claim, { lab }) => {
  const all = cpuOf(lab);
  if (!all) return noLab;
  const one = lab?.devices.find(({ id }) => id === 'cpu-1');
  const found = ratios(all.products, one?.products ?? []).at(-1);
  if (!found || all.threads <= 1) return notTested('Only one thread was measured.');
  const speedup = found.ratio;
  const sentence = `${all.threads} threads do ${short(speedup)} times the work of one here. ${claim.words}`;
  return { verdict: speedup < 1.2 ? 'holds' : 'too simple', sentence, figures: { threads: all.threads, speedup } };
};

/** Floats a clock of 4 GHz would have to take in for the rate of one thread: two FLOP each. */
const lanes: Test = (claim, { lab }) => {
  const one = lab?.devices.find(({ id }) => id === 'cpu-1');
  if (!one) return noLab;
  const values = best(one.products) / 2 / 4;
  const sentence = `One thread multiplies and adds ${short(values)} values a clock of 4 GHz. ${claim.words}`;
  return against(says(claim, 'valuesPerCycle'), values, sentence, { valuesPerCycle: values });
};

const ratio: Test = (claim, { lab }) => {
  const [cpu, gpu] = [cpuOf(lab), gpuOf(lab)];
  if (!cpu) return noLab;
  if (!gpu) return noGpu;
  const found = ratios(gpu.products, cpu.products);
  if (found.length === 0) return notTested('The CPU and the GPU were measured at different sizes.');
  const [low, high] = [says(claim, 'low'), says(claim, 'high')];
  const [first, last] = [found[0], found[found.length - 1]];
  const sentence = `Here the GPU is ${short(last.ratio)} times as fast at N = ${last.at}, ${short(first.ratio)} at N = ${first.at}. ${claim.words}`;
  const figures = { ratioLarge: last.ratio, ratioSmall: first.ratio };
  if (last.ratio >= low && last.ratio <= high)
    return { verdict: first.ratio >= low ? 'holds' : 'too simple', sentence, figures };
  const factor = last.ratio < low ? low / last.ratio : high / last.ratio;
  return { verdict: factor > 3 || factor < 1 / 3 ? 'wrong here' : 'too simple', factor, sentence, figures };
};

/** Small training steps: the CPU is not slower on the workload where it does best. */
const smallWork: Test = (claim, { lab }) => {
  const [cpu, gpu] = [cpuOf(lab), gpuOf(lab)];
  if (!cpu) return noLab;
  if (!gpu) return noGpu;
  const found = cpu.workloads.flatMap(({ name, milliseconds }) => {
    const other = gpu.workloads.find((workload) => workload.name === name);
    return other ? [{ name, ratio: other.milliseconds.median / milliseconds.median }] : [];
  });
  const [top] = found.sort((a, b) => b.ratio - a.ratio);
  if (!top) return notTested('No workload was timed on both.');
  const sentence = `${top.name} takes the GPU ${short(top.ratio)} times as long as the CPU here. ${claim.words}`;
  return { verdict: top.ratio >= 1 ? 'holds' : 'too simple', sentence, figures: { ratio: top.ratio } };
};

const productTime: Test = (claim, { lab }) => {
  const sample = nearest(cpuOf(lab)?.products ?? [], 1000);
  if (!sample) return noLab;
  const seconds = 2e9 / (sample.value.median * 1e9);
  const sentence = `It takes ${short(seconds * 1e3)} ms here. ${claim.words}`;
  return against(says(claim, 'seconds'), seconds, sentence, { seconds, gflops: sample.value.median });
};

/** A matrix of 4 MB is read once: time is bytes by bandwidth, or the launch. */
const matrixVector: Test = (claim, { lab }) => {
  const [cpu, gpu] = [cpuOf(lab), gpuOf(lab)];
  if (!cpu) return noLab;
  if (!gpu) return noGpu;
  const microseconds = (device: typeof cpu, asked: 'call' | 'submit'): number =>
    4e6 / ((nearest(device.copy, 4e6)?.value.median ?? best(device.copy)) * 1e3) + (latency(device, asked) ?? 0);
  const [near, far] = [microseconds(cpu, 'call'), microseconds(gpu, 'submit')];
  const found = near / far;
  const sentence = `Here: ${short(near)} µs on the CPU, ${short(far)} on the GPU: ${short(found)} times. ${claim.words}`;
  const figures = { cpuMicroseconds: near, gpuMicroseconds: far, ratio: found };
  const low = says(claim, 'low');
  if (found >= low && found <= says(claim, 'high')) return { verdict: 'holds', sentence, figures };
  return { verdict: 'wrong here', factor: low / found, sentence, figures };
};

const latencyThroughput: Test = (claim, { lab }) => {
  const [cpu, gpu] = [cpuOf(lab), gpuOf(lab)];
  if (!cpu) return noLab;
  if (!gpu) return noGpu;
  const [call, submit] = [latency(cpu, 'submit') ?? latency(cpu, 'call'), latency(gpu, 'submit')];
  if (call === undefined || submit === undefined) return notTested('Latencies were not measured.');
  const throughput = best(gpu.products) / best(cpu.products);
  const asClaimed = submit > call && throughput > 1;
  const sentence = `A call is answered in ${short(call)} µs by the CPU and ${short(submit)} by the GPU; the GPU's best rate is ${short(throughput)} times the CPU's. ${claim.words}`;
  const figures = { cpuMicroseconds: call, gpuMicroseconds: submit, throughput };
  if (claim.verdictInPrinciple === 'true') return { verdict: asClaimed ? 'holds' : 'wrong here', sentence, figures };
  return { verdict: asClaimed ? byWords[claim.verdictInPrinciple] : 'too simple', sentence, figures };
};

const bandwidth: Test = (claim, { lab }) => {
  const found = cpuOf(lab)?.copy.at(-1)?.value.median;
  if (found === undefined) return noLab;
  const gpu = gpuOf(lab)?.copy.at(-1)?.value.median;
  const inside = found >= says(claim, 'low') && found <= says(claim, 'high');
  const beside = gpu === undefined ? '' : `, ${short(gpu)} on the GPU`;
  const sentence = `Copying moves ${short(found)} GB/s here${beside}. ${claim.words}`;
  const figures = { cpu: found, ...(gpu === undefined ? {} : { gpu }) };
  return { verdict: inside && claim.verdictInPrinciple === 'true' ? 'holds' : 'too simple', sentence, figures };
};

const capacity: Test = (claim, { lab, catalogue }) => {
  if (!lab) return noLab;
  const here = lab.machine.memoryBytes / 1e9;
  const cards = catalogue.devices.filter(
    ({ kind, unified, memory, name }) => kind === 'gpu' && !unified && memory && name.includes('GeForce'),
  );
  const larger = cards.filter(({ memory }) => (memory?.value ?? 0) > here).length;
  const sentence = `This machine has ${short(here)} GB; ${larger} of ${cards.length} cards for consumers have more. ${claim.words}`;
  return {
    verdict: larger > cards.length / 2 ? 'holds' : 'wrong here',
    sentence,
    figures: { memory: here, larger, cards: cards.length },
  };
};

const sixteenBits: Test = (claim, { lab }) => {
  const device = [gpuOf(lab), cpuOf(lab)].find((candidate) => candidate?.products16?.length);
  if (!device?.products16) return notTested('No device here has 16-bit products.');
  const gain = best(device.products16) / best(device.products);
  const sentence = `16 bits are ${short(gain)} times as fast here. ${claim.words}`;
  return { verdict: gain >= 1.2 ? 'holds' : 'too simple', sentence, figures: { gain } };
};

/** Hours at 50 to 80 % of the best product rate of the CPU: what a tuned program would take. */
const trainingTime: Test = (claim, { lab }) => {
  const cpu = cpuOf(lab);
  if (!cpu) return noLab;
  const hours = (says(claim, 'gflopsPerExample') * says(claim, 'examples')) / best(cpu.products) / 3600;
  const [low, high] = [hours / 0.8, hours / 0.5];
  const said = says(claim, 'hours');
  const sentence = `This CPU would take ${short(low)} to ${short(high)} h; the claim says ${short(said)}. ${claim.words}`;
  const figures = { low, high };
  if (said >= low / 2 && said <= high * 2) return { verdict: 'holds', sentence, figures };
  const factor = said < low ? said / low : said / high;
  return { verdict: factor > 10 || factor < 0.1 ? 'wrong here' : 'too simple', factor, sentence, figures };
};

const energy: Test = (claim, { lab, watts }) => {
  const [cpu, gpu] = [cpuOf(lab), gpuOf(lab)];
  if (!cpu) return noLab;
  if (!gpu || !watts) return notTested('It takes a GPU here and the watts of both.');
  const found = cpu.workloads.flatMap(({ name, milliseconds }) => {
    const other = gpu.workloads.find((workload) => workload.name === name);
    return other ? [{ name, ratio: (other.milliseconds.median * watts.gpu) / (milliseconds.median * watts.cpu) }] : [];
  });
  if (found.length === 0) return notTested('No workload was timed on both.');
  const [least] = found.sort((a, b) => a.ratio - b.ratio);
  const sentence = `${least.name} takes the GPU ${short(least.ratio)} times the CPU's energy here. ${claim.words}`;
  return { verdict: least.ratio >= 1 ? 'holds' : 'too simple', sentence, figures: { ratio: least.ratio } };
};

const sum: Test = (claim) => {
  const found = productMultiplyAdds(says(claim, 'rows'), says(claim, 'inner'), says(claim, 'columns'));
  return against(says(claim, 'multiplyAdds'), found, `${found.toLocaleString('en')} multiply-adds. ${claim.words}`, {
    multiplyAdds: found,
  });
};

/** Short names of devices in claims, and how many of them a claim means. */
const meant: ReadonlyMap<string, readonly [id: string, count: number]> = new Map([
  ['t4', ['t4', 1]],
  ['rtx4070ti', ['rtx-4070-ti', 1]],
  ['rtx4090', ['rtx-4090', 1]],
  ['a100', ['a100-80gb', 1]],
  ['h100', ['h100-sxm', 1]],
  ['epyc9755', ['epyc-9755', 1]],
  ['tpuv4pod', ['tpu-v4', 4096]],
]);

/** `rtx4090_memory: 24` against the catalogue; the figure that is most off decides. */
const figures: Test = (claim, { catalogue }) => {
  const found = Object.entries(claim.saysWhat).flatMap(([name, said]) => {
    const [short, field] = name.split('_');
    const [id, count] = meant.get(short) ?? ['', 1];
    const figure = catalogue.devices.find((device) => device.id === id)?.[field as DeviceFigure];
    return figure === undefined ? [] : [{ name, said, value: figure.value * count }];
  });
  if (found.length === 0) return notTested('The catalogue has no such figure.');
  const off = ({ said, value }: { said: number; value: number }): number => Math.abs(Math.log(said / value));
  const [most] = [...found].sort((a, b) => off(b) - off(a));
  const values = Object.fromEntries(found.map(({ name, value }) => [name, value]));
  const ratio = most.said / most.value;
  const holds = Math.max(ratio, 1 / ratio) <= 1.05;
  const sentence = `The catalogue has ${found.map(({ value }) => short(value)).join(', ')}. ${claim.words}`;
  if (holds) return { verdict: 'holds', sentence, figures: values };
  return { verdict: 'wrong here', factor: ratio, sentence, figures: values };
};

/** `tpu_memory: 32` or `fp32: 82.6`: whether the catalogue goes beyond it, among TPUs or consumer cards. */
const range: Test = (claim, { catalogue }) => {
  const [[name, said]] = Object.entries(claim.saysWhat);
  const field = deviceFigureNames.find((figure) => name.endsWith(figure));
  const devices = catalogue.devices.filter(({ kind, name: device }) =>
    name.startsWith('tpu') ? kind === 'tpu' : device.includes('GeForce'),
  );
  const most = Math.max(...devices.map((device) => (field === undefined ? 0 : (device[field]?.value ?? 0))));
  const sentence = `The catalogue goes up to ${short(most)}. ${claim.words}`;
  if (most <= said * 1.1) return { verdict: 'holds', sentence, figures: { most } };
  return { verdict: 'too simple', factor: said / most, sentence, figures: { most } };
};

const breakEven: Test = (claim) => {
  const [card, rent] = [says(claim, 'card'), says(claim, 'rent')];
  const plain = breakEvenHours({ card }, rent);
  const whole = breakEvenHours({ card, host: 1500, power: 0.35, tariff: 0.18 }, rent);
  const today = breakEvenHours({ card, host: 1500, power: 0.35, tariff: 0.18 }, 0.79);
  const sentence = `${short(plain)} h by the plain sum; ${short(whole)} with machine and electricity, ${short(today)} against 0.79 an hour. ${claim.words}`;
  const sumHolds = Math.abs(says(claim, 'hours') / plain - 1) < 0.01;
  const holds = sumHolds && claim.verdictInPrinciple === 'true';
  return {
    verdict: holds ? 'holds' : sumHolds ? 'too simple' : 'wrong here',
    sentence,
    figures: { plain, whole, today },
  };
};

/** ResNet-50 at batch 32 in float32 with Adam: states, and 21.07 million values an image with the places of pooled maxima. */
const resnetMemory: Test = (claim) => {
  const activations = keptActivations(21.07e6, 32) + keptActivations(200_704, 32, 8);
  const megabytes = (modelStates(25_557_032, 'adam', 'float32').total + activations) / 1e6;
  const said = says(claim, 'megabytes');
  const found = { megabytes, activations: activations / 1e6 };
  const sentence = `At batch 32 it takes ${short(megabytes)} MB, ${short(activations / 1e6)} of them activations. ${claim.words}`;
  if (said >= megabytes)
    return { verdict: claim.verdictInPrinciple === 'true' ? 'holds' : 'too simple', sentence, figures: found };
  return { verdict: 'wrong here', factor: said / megabytes, sentence, figures: found };
};

const stateBytes: Test = (claim) => {
  const { weights, gradients, optimizer } = modelStates(1, 'adam', 'float32');
  const times = optimizer / weights;
  const inside = gradients === weights && times >= says(claim, 'low') && times <= says(claim, 'high');
  return {
    verdict: inside ? 'holds' : 'wrong here',
    sentence: claim.words,
    figures: { weights, gradients, optimizer },
  };
};

const spot: Test = (claim) => {
  const saving = 1 - says(claim, 'spot') / says(claim, 'onDemand');
  return against(says(claim, 'saving'), saving, `${Math.round(saving * 100)} % by its own prices. ${claim.words}`, {
    saving,
  });
};

/** ResNet-50 over that many V100, summing its gradients over PCIe of generation 4. */
const scalingOut: Test = (claim) => {
  const devices = says(claim, 'devices');
  const summing = ringAllReduce(4 * 25_557_032, devices, 20e9);
  const speedup = devices * parallelEfficiency(256 / 1200, summing);
  const sentence = `${devices} cards on PCIe do at most ${short(speedup)} times the work. ${claim.words}`;
  return { verdict: byWords[claim.verdictInPrinciple], sentence, figures: { speedup, summingSeconds: summing } };
};

const tests: Readonly<Record<ClaimTest, Test>> = {
  text,
  cores,
  threads,
  lanes,
  ratio,
  'small-work': smallWork,
  'product-time': productTime,
  'matrix-vector': matrixVector,
  'latency-throughput': latencyThroughput,
  bandwidth,
  capacity,
  'sixteen-bits': sixteenBits,
  'training-time': trainingTime,
  energy,
  sum,
  figures,
  range,
  'break-even': breakEven,
  'resnet-memory': resnetMemory,
  'state-bytes': stateBytes,
  spot,
  'scaling-out': scalingOut,
};
