// Tests of claims that the catalogue or a formula decides, on any machine.

import { deviceFigureNames, type DeviceFigure } from '../catalogue/schema.ts';
import { productMultiplyAdds } from '../formulas/flops.ts';
import { keptActivations, modelStates } from '../formulas/memory.ts';
import { breakEvenHours } from '../formulas/money.ts';
import { parallelEfficiency, ringAllReduce } from '../formulas/parallel.ts';
import { against, byWords, notTested, says, short, type Test } from './claim-test.ts';

export const sum: Test = (claim) => {
  const found = productMultiplyAdds(says(claim, 'rows'), says(claim, 'inner'), says(claim, 'columns'));
  return against(says(claim, 'multiplyAdds'), found, `${found.toLocaleString('en')} multiply-adds. ${claim.words}`, {
    multiplyAdds: found,
  });
};

/** Short names of devices in claims: which of the catalogue, how many of them a claim means, and their name in words. */
export const meant: ReadonlyMap<string, { readonly id: string; readonly count: number; readonly name: string }> =
  new Map([
    ['t4', { id: 't4', count: 1, name: 'a T4' }],
    ['rtx4070ti', { id: 'rtx-4070-ti', count: 1, name: 'RTX 4070 Ti' }],
    ['rtx4090', { id: 'rtx-4090', count: 1, name: 'RTX 4090' }],
    ['a100', { id: 'a100-80gb', count: 1, name: 'A100' }],
    ['h100', { id: 'h100-sxm', count: 1, name: 'H100' }],
    ['epyc9755', { id: 'epyc-9755', count: 1, name: 'EPYC 9755' }],
    ['tpuv4pod', { id: 'tpu-v4', count: 4096, name: 'a TPU v4 pod' }],
  ]);

/** `rtx4090_memory: 24` against the catalogue; the figure that is most off decides. */
export const figures: Test = (claim, { catalogue }) => {
  const found = Object.entries(claim.saysWhat).flatMap(([name, said]) => {
    const [short, field] = name.split('_');
    const { id, count } = meant.get(short) ?? { id: '', count: 1 };
    const figure = catalogue.devices.find((device) => device.id === id)?.[field as DeviceFigure];
    return figure === undefined ? [] : [{ name, said, value: figure.value * count }];
  });
  if (found.length === 0) return notTested('The catalogue has no such figure.');
  const off = ({ said, value }: { said: number; value: number }): number => Math.abs(Math.log(said / value));
  const sorted = found.toSorted((a, b) => off(b) - off(a));
  const [most] = sorted;
  // The one that decides stands first.
  const values = Object.fromEntries(sorted.map(({ name, value }) => [name, value]));
  const ratio = most.said / most.value;
  const holds = Math.max(ratio, 1 / ratio) <= 1.05;
  const sentence = `The catalogue has ${found.map(({ value }) => short(value)).join(', ')}. ${claim.words}`;
  if (holds) return { verdict: 'holds', sentence, figures: values };
  return { verdict: 'wrong here', factor: ratio, sentence, figures: values };
};

/** `tpu_memory: 32` or `fp32: 82.6`: whether the catalogue goes beyond it, among TPUs or consumer cards. */
export const range: Test = (claim, { catalogue }) => {
  const [[name, said]] = Object.entries(claim.saysWhat);
  const field = deviceFigureNames.find((figure) => name.endsWith(figure));
  const devices = catalogue.devices.filter(({ kind, name: device }) =>
    name.startsWith('tpu') ? kind === 'tpu' : device.includes('GeForce'),
  );
  const most = Math.max(...devices.map((device) => (field === undefined ? 0 : (device[field]?.value ?? 0))));
  const sentence = `The catalogue goes up to ${short(most)}. ${claim.words}`;
  const found = { [`most_${field}`]: most };
  if (most <= said * 1.1) return { verdict: 'holds', sentence, figures: found };
  return { verdict: 'too simple', factor: said / most, sentence, figures: found };
};

export const breakEven: Test = (claim) => {
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
export const resnetMemory: Test = (claim) => {
  const activations = keptActivations(21.07e6, 32) + keptActivations(200_704, 32, 8);
  const megabytes = (modelStates(25_557_032, 'adam', 'float32').total + activations) / 1e6;
  const said = says(claim, 'megabytes');
  const found = { megabytes, activations: activations / 1e6 };
  const sentence = `At batch 32 it takes ${short(megabytes)} MB, ${short(activations / 1e6)} of them activations. ${claim.words}`;
  if (said >= megabytes)
    return { verdict: claim.verdictInPrinciple === 'true' ? 'holds' : 'too simple', sentence, figures: found };
  return { verdict: 'wrong here', factor: said / megabytes, sentence, figures: found };
};

export const stateBytes: Test = (claim) => {
  const { weights, gradients, optimizer } = modelStates(1, 'adam', 'float32');
  const times = optimizer / weights;
  const inside = gradients === weights && times >= says(claim, 'low') && times <= says(claim, 'high');
  return {
    verdict: inside ? 'holds' : 'wrong here',
    sentence: claim.words,
    figures: { weights, gradients, optimizer },
  };
};

/** Its own prices give the saving or they do not: 80 % for 67 % pays a fifth where a third is paid. */
export const spot: Test = (claim) => {
  const saving = 1 - says(claim, 'spot') / says(claim, 'onDemand');
  const sentence = `${Math.round(saving * 100)} % by its own prices. ${claim.words}`;
  const factor = says(claim, 'saving') / saving;
  const figures = { saving };
  if (Math.abs(factor - 1) < 0.01) return { verdict: 'holds', sentence, figures };
  return { verdict: 'wrong here', factor, sentence, figures };
};

/** ResNet-50 over that many V100, summing its gradients over PCIe of generation 4. */
export const scalingOut: Test = (claim) => {
  const devices = says(claim, 'devices');
  const summing = ringAllReduce(4 * 25_557_032, devices, 20e9);
  const speedup = devices * parallelEfficiency(256 / 1200, summing);
  const sentence = `${devices} cards on PCIe do at most ${short(speedup)} times the work. ${claim.words}`;
  return { verdict: byWords[claim.verdictInPrinciple], sentence, figures: { speedup, summingSeconds: summing } };
};
