// The tabs of the section, in order: one line each. A view is loaded when its tab is first opened, so that what it computes with
// (catalogue, plans) does not stand between a person and the start of the window.

import type { HardwareTab } from './frame.svelte.ts';

// prettier-ignore
export const hardwareTabs: readonly HardwareTab[] = [
  { id: '', label: 'Overview', answers: 'What this machine has', words: ['devices', 'cpu', 'gpu'], load: () => import('./overview/Overview.svelte') },
  { id: 'lab', label: 'Lab', answers: 'How fast is this machine, measured?', words: ['measure', 'bandwidth', 'latency', 'crossover', 'benchmark'], load: () => import('./lab/Lab.svelte') },
  { id: 'roofline', label: 'Roofline', answers: 'What holds each layer of a model back?', words: ['layers', 'memory', 'arithmetic', 'crossover', 'batch'], load: () => import('./roofline/Roofline.svelte') },
  { id: 'memory', label: 'Memory', answers: 'What does training a model need, and what fits?', words: ['batch', 'activations', 'vram', 'fits'], load: () => import('./memory/Memory.svelte') },
  { id: 'cost', label: 'Time and cost', answers: 'How long, and for how much, on every device?', words: ['catalogue', 'forecast', 'price', 'energy', 'epoch'], load: () => import('./cost/TimeAndCost.svelte') },
  { id: 'rent', label: 'Rent or buy', answers: 'When does a card of your own pay?', words: ['break-even', 'cloud', 'price', 'money'], load: () => import('./rent/RentOrBuy.svelte') },
  { id: 'advise', label: 'Advise', answers: 'What to train on, for your deadline and budget?', words: ['recommend', 'deadline', 'budget', 'which gpu', 'rules', 'thresholds'], load: () => import('./advise/Advise.svelte') },
  { id: 'claims', label: 'Claims', answers: 'Does what is said of CPUs and GPUs hold here? And why? Seven pages to try', words: ['learn', 'articles', 'verdict', 'amdahl', 'bandwidth', 'latency'], load: () => import('./claims/Claims.svelte') },
];

/** The tab of an address; the overview for one that is unknown. */
export const tabOf = (id: string | undefined): HardwareTab =>
  hardwareTabs.find((tab) => tab.id === (id ?? '')) ?? hardwareTabs[0];
