// What a language model wrote while it learned, as a line of its run's log: one line, whatever the text, so that logs stay lists of lines.

import type { LogLine } from './runs.ts';

export interface Sample {
  readonly step: number;
  /** What it wrote, with its line breaks. */
  readonly text: string;
}

/** Stands for the end of a line. */
const lineEnd = ' ⏎ ';
const form = /^Step (\d+) writes: (.*)$/s;

export const sampleMessage = ({ step, text }: Sample): string =>
  `Step ${step} writes: ${text
    .trim()
    .split(/\s*\n\s*/)
    .join(lineEnd)}`;

/** Null: the line says something else. */
export function sampleOf({ message }: Pick<LogLine, 'message'>): Sample | null {
  const [, step, text] = form.exec(message) ?? [];
  return step === undefined ? null : { step: Number(step), text: text.replaceAll(lineEnd, '\n') };
}
