// Tests of claims that a lab of this machine decides.

import { best, cpuOf, gpuOf, latency, nearest, ratios, type Evidence } from './evidence.ts';
import {
  against,
  byWords,
  noGpu,
  noLab,
  notTested,
  says,
  short,
  longTime,
  type Test,
  type Verdict,
} from './claim-test.ts';

export const cores: Test = (claim, { lab }) => {
  if (!lab) return noLab;
  const inside = lab.machine.cores >= says(claim, 'low') && lab.machine.cores <= says(claim, 'high');
  const sentence = `This machine has ${lab.machine.cores}. ${claim.words}`;
  return { verdict: inside ? 'holds' : 'too simple', sentence, figures: { cores: lab.machine.cores } };
};

/** Gain of all threads from which they are worth something, and the share of their number that is nearly all of it. */
const someGain = 1.2;
const nearlyAll = 0.8;

/** What all threads do of the work of one: at the largest product both have, and at the training step that gains least. */
function threadGains({ lab }: Evidence): { threads: number; speedup: number; leastOfSteps?: number } | Verdict {
  const all = cpuOf(lab);
  if (!all) return noLab;
  const one = lab?.devices.find(({ id }) => id === 'cpu-1');
  const found = ratios(all.products, one?.products ?? []).at(-1);
  if (!found || all.threads <= 1) return notTested('Only one thread was measured.');
  const steps = all.workloads.flatMap(({ name, milliseconds }) => {
    const alone = one?.workloads.find((workload) => workload.name === name);
    return alone ? [alone.milliseconds.median / milliseconds.median] : [];
  });
  return {
    ...{ threads: all.threads, speedup: found.ratio },
    ...(steps.length > 0 ? { leastOfSteps: Math.min(...steps) } : {}),
  };
}

/** One after the other: neither threads nor SIMD do more than a value or two at a time. */
export const serial: Test = (claim, evidence) => {
  const gains = threadGains(evidence);
  if ('verdict' in gains) return gains;
  const { threads, speedup } = gains;
  const one = evidence.lab?.devices.find(({ id }) => id === 'cpu-1');
  const valuesPerCycle = best(one?.products ?? []) / 2 / 4;
  const sentence = `${threads} threads do ${short(speedup)} times the work of one here, and one thread multiplies and adds ${short(valuesPerCycle)} values a clock of 4 GHz. ${claim.words}`;
  const holds = speedup < someGain && valuesPerCycle <= 2;
  return { verdict: holds ? 'holds' : 'too simple', sentence, figures: { speedup, valuesPerCycle, threads } };
};

/** Divide and conquer: all threads do nearly as many times the work, in a product and in whole training steps. */
export const parallel: Test = (claim, evidence) => {
  const gains = threadGains(evidence);
  if ('verdict' in gains) return gains;
  const { threads, speedup, leastOfSteps } = gains;
  const steps =
    leastOfSteps === undefined ? '' : `, and ${short(leastOfSteps)} times the training step that gains least`;
  const sentence = `${threads} threads do ${short(speedup)} times the product of one here${steps}. ${claim.words}`;
  const figures = { speedup, threads, ...(leastOfSteps === undefined ? {} : { leastOfSteps }) };
  if (speedup < someGain) return { verdict: 'wrong here', factor: threads / speedup, sentence, figures };
  const whole = Math.min(speedup, leastOfSteps ?? speedup) >= nearlyAll * threads;
  return { verdict: whole ? 'holds' : 'too simple', sentence, figures };
};

/** Floats a clock of 4 GHz would have to take in for the rate of one thread: two FLOP each. */
export const lanes: Test = (claim, { lab }) => {
  const one = lab?.devices.find(({ id }) => id === 'cpu-1');
  if (!one) return noLab;
  const values = best(one.products) / 2 / 4;
  const sentence = `One thread multiplies and adds ${short(values)} values a clock of 4 GHz. ${claim.words}`;
  return against(says(claim, 'valuesPerCycle'), values, sentence, { valuesPerCycle: values });
};

export const ratio: Test = (claim, { lab }) => {
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
export const smallWork: Test = (claim, { lab }) => {
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

export const productTime: Test = (claim, { lab }) => {
  const sample = nearest(cpuOf(lab)?.products ?? [], 1000);
  if (!sample) return noLab;
  const seconds = 2e9 / (sample.value.median * 1e9);
  const sentence = `It takes ${short(seconds * 1e3)} ms here. ${claim.words}`;
  return against(says(claim, 'seconds'), seconds, sentence, { seconds, gflops: sample.value.median });
};

/** A matrix of 4 MB is read once: time is bytes by bandwidth, or the launch. */
export const matrixVector: Test = (claim, { lab }) => {
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

export const latencyThroughput: Test = (claim, { lab }) => {
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

export const bandwidth: Test = (claim, { lab }) => {
  const found = cpuOf(lab)?.copy.at(-1)?.value.median;
  if (found === undefined) return noLab;
  const gpu = gpuOf(lab)?.copy.at(-1)?.value.median;
  const inside = found >= says(claim, 'low') && found <= says(claim, 'high');
  const beside = gpu === undefined ? '' : `, ${short(gpu)} on the GPU`;
  const sentence = `Copying moves ${short(found)} GB/s here${beside}. ${claim.words}`;
  const figures = { cpu: found, ...(gpu === undefined ? {} : { gpu }) };
  return { verdict: inside && claim.verdictInPrinciple === 'true' ? 'holds' : 'too simple', sentence, figures };
};

export const capacity: Test = (claim, { lab, catalogue }) => {
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

export const sixteenBits: Test = (claim, { lab }) => {
  const device = [gpuOf(lab), cpuOf(lab)].find((candidate) => candidate?.products16?.length);
  if (!device?.products16) return notTested('No device here has 16-bit products.');
  const gain = best(device.products16) / best(device.products);
  const sentence = `16 bits are ${short(gain)} times as fast here. ${claim.words}`;
  return { verdict: gain >= 1.2 ? 'holds' : 'too simple', sentence, figures: { gain } };
};

/** Hours at 50 to 80 % of the best product rate of the CPU: what a tuned program would take. */
export const trainingTime: Test = (claim, { lab }) => {
  const cpu = cpuOf(lab);
  if (!cpu) return noLab;
  const hours = (says(claim, 'gflopsPerExample') * says(claim, 'examples')) / best(cpu.products) / 3600;
  const [low, high] = [hours / 0.8, hours / 0.5];
  const said = says(claim, 'hours');
  const sentence = `This CPU would take ${longTime(low, high)}; the claim says ${longTime(said)}. ${claim.words}`;
  const figures = { lowHours: low, highHours: high };
  if (said >= low / 2 && said <= high * 2) return { verdict: 'holds', sentence, figures };
  const factor = said < low ? said / low : said / high;
  return { verdict: factor > 10 || factor < 0.1 ? 'wrong here' : 'too simple', factor, sentence, figures };
};

export const energy: Test = (claim, { lab, watts }) => {
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
