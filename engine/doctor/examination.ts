// A check before a long run, from its first row to the verdict: rows are drawn, the learner is asked what it lets be examined, checks are
// made one after the other, each told as soon as it is known. A check that cannot be made says why and counts neither way.

import { CancelledError } from '../protocol/errors.ts';
import { checkIds, type CheckFinding, type CheckId, type CheckKind, type CheckReport } from '../protocol/checking.ts';
import type { PreparedData, Shard } from '../protocol/data.ts';
import type { RunConfig } from '../protocol/runs.ts';
import { allChanges } from './changes.ts';
import { NotDone, type Check, type Examination, type Pace, type Sampled, type StepRate } from './check.ts';
import { keepingUpCheck } from './keeping-up.ts';
import { readSample } from './sample.ts';
import { shuffledCheck } from './shuffled.ts';

export interface ExaminationOptions {
  readonly config: RunConfig;
  readonly data: PreparedData;
  readonly readShard: (shard: number) => Promise<Shard>;
  readonly dataBudget: number;
  /** `CPU, 2 threads` */
  readonly device: () => string;
  /** What the learner lets be examined. */
  readonly examine: (sampled: Sampled) => Promise<Examination>;
  readonly pace: Pace;
  readonly onFinding: (finding: CheckFinding) => void;
  readonly onProgress: (stage: string, share: number) => void;
}

/** What is said of a check that could not be made. */
const titles: Readonly<Record<CheckId, string>> = {
  data: 'Data keeps up',
  start: 'Loss at the start',
  gradients: 'Gradients by layer',
  activations: 'Activations by layer',
  agreement: 'Gradients against float64',
  heart: 'One batch by heart',
  shuffled: 'Shuffled labels',
  dead: 'Dead units',
};
const order: readonly CheckKind[] = ['fix', 'look', 'undone', 'fine'];

/** Throws CancelledError from `pace.breathe`. */
export async function examineRun(options: ExaminationOptions): Promise<CheckReport> {
  const { config, data, pace, onFinding, onProgress, dataBudget } = options;
  const start = pace.clock();
  onProgress('Reading rows', 0);
  const reading = await readSample(options, config.seed, pace);
  const sampled = { sample: reading.sample, data };
  const answers = oneAnswer(sampled);
  const findings: CheckFinding[] = [];
  const held: CheckFinding[] = [];
  const tell = (finding: CheckFinding): void => {
    findings.push(finding);
    onFinding(finding);
  };
  let rate: StepRate | null = null;
  if (answers) {
    tell(answers);
  } else {
    const examination = await options.examine(sampled);
    const speed = examination.speed?.bind(examination);
    const checks = [
      keepingUpCheck({ data, reading, dataBudget, speed, known: (measured) => (rate = measured) }),
      ...examination.checks,
      shuffledCheck(examination, sampled, config.seed),
    ].sort((a, b) => checkIds.indexOf(a.finds[0]) - checkIds.indexOf(b.finds[0]));
    const seconds = checks.reduce((sum, check) => sum + check.seconds, 0);
    let before = 0;
    for (const check of checks) {
      onProgress(titles[check.finds[0]], before / seconds);
      await pace.breathe();
      // Whether a sign of trouble keeps it from learning is known when it was seen to learn, or not to.
      for (const finding of await made(check, pace)) {
        if (finding.kind === 'fix' && signs.has(finding.id)) held.push(finding);
        else tell(finding);
      }
      before += check.seconds;
    }
    held.map((finding) => weighed(finding, findings)).forEach(tell);
  }
  onProgress('Done', 1);
  const sorted = inOrder(findings);
  const step = rate as StepRate | null;
  const runSeconds = step && (step.milliseconds * step.steps) / 1000;
  return {
    ...verdictOf(sorted),
    cost: costOf(sorted, runSeconds),
    findings: sorted,
    done: findings.filter(({ kind }) => kind !== 'undone').length,
    seconds: (pace.clock() - start) / 1000,
    device: options.device(),
    runSeconds,
    changed: allChanges(config, sorted),
  };
}

/** What there is to fix first; among equals the order they are made in. */
export function inOrder(findings: readonly CheckFinding[]): readonly CheckFinding[] {
  return findings.toSorted(
    (a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || checkIds.indexOf(a.id) - checkIds.indexOf(b.id),
  );
}

async function made(check: Check, pace: Pace): Promise<readonly CheckFinding[]> {
  try {
    return await check.run(pace);
  } catch (error) {
    if (error instanceof CancelledError) throw error;
    const text = error instanceof NotDone ? error.message : `It failed: ${(error as Error).message}`;
    return check.finds.map((id) => ({ id, kind: 'undone', title: titles[id], figure: 'not done', text }));
  }
}

/** What may keep a model from learning, and need not. */
const signs: ReadonlySet<CheckId> = new Set(['start', 'gradients', 'activations', 'dead']);

/** A sign of trouble is to be fixed first only where it was not seen to learn. */
function weighed(sign: CheckFinding, findings: readonly CheckFinding[]): CheckFinding {
  return learns(findings) ? { ...sign, kind: 'look', text: `${sign.text} It learns all the same.` } : sign;
}

/** A batch was learned by heart and real labels taught more than shuffled ones; one alone counts where the other cannot be told. */
function learns(findings: readonly CheckFinding[]): boolean {
  const kinds = findings.filter(({ id }) => id === 'heart' || id === 'shuffled').map(({ kind }) => kind);
  return kinds.includes('fine') && kinds.every((kind) => kind === 'fine' || kind === 'undone');
}

/** Rows that all have the same answer have nothing to teach: no other check means anything. */
function oneAnswer({ sample, data }: Sampled): CheckFinding | null {
  const { output, classCounts, targets } = data;
  const base = { id: 'start', kind: 'fix', title: 'There is nothing to tell apart' } as const;
  if (output.kind === 'classes') {
    const present = classCounts.filter((count) => count > 0).length;
    if (present !== 1) return null;
    const one = output.classes[classCounts.findIndex((count) => count > 0)];
    return { ...base, figure: '1 class', text: `All training rows are “${one}”. Choose another target or split.` };
  }
  const { y } = sample.shard;
  for (let row = 1; row < sample.data.counts.train; row++) if (y[row * targets] !== y[0]) return null;
  return { ...base, figure: '1 value', text: 'All training rows have the same value. Choose another target.' };
}

function verdictOf(findings: readonly CheckFinding[]): Pick<CheckReport, 'verdict' | 'sentence'> {
  const of = (kind: CheckKind): number => findings.filter((finding) => finding.kind === kind).length;
  const [fix, look, undone] = [of('fix'), of('look'), of('undone')];
  const things = (count: number): string => `${count} ${count === 1 ? 'thing' : 'things'}`;
  if (fix > 0) {
    const fails = learns(findings) ? 'This run would learn; yet there is more' : 'This run would most likely fail';
    return { verdict: 'fix', sentence: `${fails}: ${things(fix)} to fix first.` };
  }
  const rest = undone > 0 ? ` ${undone === 1 ? 'One check' : `${undone} checks`} could not be made.` : '';
  if (look > 0)
    return { verdict: 'look', sentence: `Nothing keeps it from learning; ${things(look)} to look at.${rest}` };
  return { verdict: 'fine', sentence: `Nothing found.${rest}` };
}

/** What the run would take, and what of it would be in vain. */
function costOf(findings: readonly CheckFinding[], seconds: number | null): string {
  if (seconds === null) return '';
  const time = timeWords(seconds);
  return seconds >= 10 && findings.some(({ kind }) => kind === 'fix')
    ? `Not acting costs ${time}: all epochs at the speed measured here.`
    : `All epochs take ${time} at the speed measured here.`;
}

function timeWords(seconds: number): string {
  if (seconds < 1) return 'less than a second';
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${(seconds / 3600).toFixed(1)} h` : `${(seconds / 86_400).toFixed(1)} days`;
}
