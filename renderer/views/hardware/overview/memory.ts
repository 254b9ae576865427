// Memory on the overview: the chosen model beside three that everyone knows, and how far past forecasts were off.

import { subjectNamed, type Subject } from '../../../../engine/hardware/costs/familiar.ts';
import { textbookMemory, type PlanDevice } from '../../../../engine/hardware/memory-forecast.ts';
import { breathe } from '../../../lib/breathe.ts';
import { fixed, plural } from '../../../lib/format.ts';
import { ownMemory, partsOf, textbookOptions, totalOf, type Part, type RunMemory } from '../memory/memory.ts';

export interface MemoryBar {
  /** As a model is chosen by; '' = the chosen one. */
  readonly name: string;
  readonly label: string;
  readonly note: string;
  readonly parts: readonly Part[];
  readonly total: number;
}

const barOf = (name: string, label: string, note: string, parts: readonly Part[]): MemoryBar => ({
  name,
  label,
  note,
  parts,
  total: totalOf(parts),
});

/** Of this program exactly where it builds the model, else by the textbook in float32. */
export function barOfModel(subject: Subject, label: string, device: PlanDevice): MemoryBar {
  const own = ownMemory(subject, device);
  const parts = own ?? textbookMemory(subject.costs(subject.batch), textbookOptions(subject, 'float32'));
  return barOf(
    '',
    `${label}, batch ${fixed(subject.batch)}`,
    own ? `this model, exact, ${device.kind.toUpperCase()}` : 'this model, textbook',
    partsOf(parts),
  );
}

const familiar = [
  ['resnet50', 'ResNet-50', 32],
  ['bert-base', 'BERT-base', 16],
  ['gpt2', 'GPT-2 small', 8],
] as const;

/** By the textbook in float32, as PyTorch has it; one at a time, so that the window breathes. */
export async function familiarBars(): Promise<readonly MemoryBar[]> {
  const bars: MemoryBar[] = [];
  for (const [name, label, batch] of familiar) {
    await breathe();
    const subject = subjectNamed(name, { batch });
    const parts = partsOf(textbookMemory(subject.costs(batch), textbookOptions(subject, 'float32')));
    bars.push(barOf(name, `${label}, batch ${batch}`, 'textbook, float32', parts));
  }
  return bars;
}

/** A line for each bar: bytes by part. */
export function barsAsCsv(bars: readonly MemoryBar[]): string {
  const ids = ['parameters', 'gradients', 'optimizer', 'activations', 'workspace', 'rows'] as const;
  const sizes = ({ parts }: MemoryBar): readonly number[] =>
    ids.map((id) => Math.round(parts.find((part) => part.id === id)?.bytes ?? 0));
  const lines = bars.map((bar) => [`"${bar.label}"`, `"${bar.note}"`, ...sizes(bar), Math.round(bar.total)].join(','));
  return `${['model', 'basis', ...ids, 'total'].join(',')}\n${lines.join('\n')}\n`;
}

/** `Last 3 runs: forecasts off by 0.4 % in the median.` */
export function pastWords(runs: readonly RunMemory[] | null): string {
  if (runs === null) return '';
  if (runs.length === 0) return 'After each run the measured peak stands beside its forecast.';
  const off = runs.map((run) => Math.abs(run.off)).sort((a, b) => a - b);
  const median = off[off.length >> 1];
  const of = runs.length === 1 ? 'The last run took' : `The last ${plural(runs.length, 'run')} took, in the median,`;
  return median < 0.0005
    ? `${of} what was forecast, to the byte or nearly.`
    : `${of} ${fixed(100 * median, 1)} % more or less than was forecast.`;
}
