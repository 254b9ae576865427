// The tabs of a run's page, in order: one line each, a folder each. A view is loaded when its tab is first opened; it is given the page's
// state and the run, and fills the right end of the tab bar by `page.tools`.

import { declarationOf } from '../../../engine/learners/declared/registry.ts';
import type { RunRecord } from '../../../engine/protocol/runs.ts';
import { isCrossValidation } from '../../../engine/protocol/folds.ts';
import Overview from './overview/Overview.svelte';
import { hasModel, isLive, writes } from '../../lib/run-words.ts';
import type { RunTab } from './tab.ts';

/** A language model writes, and answers no rows. */
const answersRows = (run: RunRecord): boolean => !writes(run);

/** A finished run on a table. */
const isExplained: RunTab['shown'] = (run) =>
  answersRows(run) && !isLive(run) && hasModel(run) && !declarationOf(run.config).ofPictures(run.config);

/** A finished run of trees. A member, or a cross-validation, has the trees of each fold, none of its own. */
const isOfTrees: RunTab['shown'] = (run) =>
  !isLive(run) &&
  hasModel(run) &&
  declarationOf(run.config).trees &&
  run.relation !== 'member' &&
  !isCrossValidation(run.config);

/** A finished or stopped network. */
const hasSteps: RunTab['shown'] = (run) =>
  !isLive(run) && hasModel(run) && declarationOf(run.config).layers !== undefined && !isCrossValidation(run.config);

// prettier-ignore
export const runTabs: readonly RunTab[] = [
  { id: '', label: 'Overview', words: ['curves', 'results', 'settings', 'log'], load: () => Promise.resolve({ default: Overview }) },
  { id: 'evaluation', label: 'Evaluation', words: ['scores', 'out of fold', 'roc', 'confusion matrix', 'calibration', 'threshold', 'errors', 'slices', 'residuals'], shown: answersRows, load: () => import('./evaluation/Evaluation.svelte') },
  { id: 'explain', label: 'Explain', words: ['importance', 'why', 'shapley', 'dependence', 'findings', 'overfits'], shown: isExplained, load: () => import('./explain/Explain.svelte') },
  { id: 'trees', label: 'Trees', words: ['tree', 'splits', 'leaves', 'gain', 'forest', 'boosted'], shown: isOfTrees, load: () => import('./trees/Trees.svelte') },
  { id: 'write', label: 'Write', words: ['generate', 'prompt', 'text', 'temperature', 'samples', 'language model'], shown: (run) => writes(run) && !isLive(run) && hasModel(run), load: () => import('./write/Write.svelte') },
  { id: 'predict', label: 'Predict', words: ['predictions', 'file', 'what if', 'serve', 'speed'], shown: (run) => answersRows(run) && hasModel(run), load: () => import('./predict/Predict.svelte') },
  { id: 'files', label: 'Files', words: ['export', 'ONNX', 'safetensors', 'certificate', 'checkpoints', 'continue', 'extend', 'transfer', 'family'], load: () => import('./files/Files.svelte') },
  { id: 'step', label: 'Step time', words: ['profile', 'flame', 'where a step goes', 'kernels', 'slow', 'bottleneck', 'GFLOP/s'], shown: hasSteps, load: () => import('./step/StepTime.svelte') },
];

/** The tab of an address; the overview for one that is unknown. */
export const tabOf = (id: string | undefined, tabs: readonly RunTab[]): RunTab =>
  tabs.find((tab) => tab.id === (id ?? '')) ?? runTabs[0];

export const addressOfTab = (run: number, { id }: RunTab): string => (id === '' ? `#run/${run}` : `#run/${run}/${id}`);
