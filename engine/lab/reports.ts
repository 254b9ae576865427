// Sentences of a lab about what was left out and what was noisy, from the reports of all rounds together.

import { labParts, type LabPart, type LabReport } from '../protocol/lab.ts';
import { leastCalls, mostTries } from './spread.ts';

/** How parts are called in notes and in progress. */
export const partWords: Readonly<Record<LabPart, string>> = {
  latency: 'Latencies',
  product: 'Products',
  copy: 'Copying',
  triad: 'Adding',
  transfer: 'Transfers',
  scaling: 'Threads',
  workloads: 'Training steps',
};

/** Processors in use by others that are worth a word. */
const fewProcessors = 0.3;

const sentence = (words: string): string => words[0].toUpperCase() + words.slice(1);

/** `threads`: of the device; several wait for the last of them. */
function noiseReason(others: number | undefined, threads: number): string {
  if (others === undefined) return 'Another program or heat is the likely reason.';
  if (others >= fewProcessors)
    return `Other programs used ${others.toFixed(1)} processors meanwhile: they are the likely reason.`;
  const waiting = threads > 1 ? 'threads that wait for each other, ' : '';
  return `Other programs were quiet: ${waiting}a changing clock rate or another machine on the same computer is the likely reason.`;
}

/** What is in the middle; undefined: nothing is known. */
const middle = (values: readonly number[]): number | undefined => values.toSorted((a, b) => a - b)[values.length >> 1];

/** `0.4 s`, `12 s` */
export function secondsText(milliseconds: number): string {
  if (milliseconds < 100) return `${Math.ceil(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  return `${seconds < 10 ? seconds.toFixed(1) : String(Math.round(seconds))} s`;
}

/** A sentence a part each: what was left out in every round, and how noisy the rest was. */
export function reportNotes(reports: readonly LabReport[], rounds = 1, threads = 1): readonly string[] {
  return labParts.flatMap((part) => {
    const of = reports.filter((report) => report.part === part);
    const measured = new Set(of.flatMap((report) => report.measured));
    return [
      ...givenUpNotes(of, measured, threads),
      ...leftOutNote(of, measured, rounds),
      ...noiseNote(part, of, rounds, threads),
    ];
  });
}

/** What no round measured; the last one that tried says why. */
function givenUpNotes(of: readonly LabReport[], measured: ReadonlySet<string>, threads: number): readonly string[] {
  const all = of.flatMap((report) => report.givenUp).filter(({ what }) => !measured.has(what));
  return [...new Map(all.map((each) => [each.what, each])).values()].map(
    ({ what, others }) =>
      `${sentence(what)} was left out: its calls took far longer than expected. ` +
      noiseReason(others ?? middle(of.flatMap((report) => report.others ?? [])), threads),
  );
}

function leftOutNote(of: readonly LabReport[], measured: ReadonlySet<string>, rounds: number): readonly string[] {
  const all = of.flatMap((report) => report.leftOut).filter(({ what }) => !measured.has(what));
  const leftOut = [...new Map(all.map((each) => [each.what, each])).values()];
  if (leftOut.length === 0) return [];
  const [{ needed, share }] = leftOut;
  const one = leftOut.length === 1;
  const names = leftOut.map(({ what }) => what).join(', ');
  return [
    `${sentence(names)} ${one ? 'was' : 'were'} left out: ${leastCalls} calls of ${one ? 'it' : 'the first'} would take ` +
      `${secondsText(rounds * needed)}, ${one ? 'its' : 'their'} share is ${secondsText(rounds * share)}.`,
  ];
}

function noiseNote(part: LabPart, of: readonly LabReport[], rounds: number, threads: number): readonly string[] {
  const noise = of.flatMap((report) => report.noise);
  if (noise.length === 0) return [];
  const worst = noise.reduce((a, b) => (b.share > a.share ? b : a));
  // Of the rounds that were noisy: a figure is mostly too short to tell what others did meanwhile.
  const busy =
    middle(noise.flatMap(({ others }) => others ?? [])) ??
    middle(of.filter((report) => report.noise.length > 0).flatMap((report) => report.others ?? []));
  const figures = of.reduce((sum, report) => sum + report.measured.length, 0);
  return [
    `${partWords[part]}: ${noise.length} of ${figures} figures ${rounds > 1 ? `of ${rounds} rounds ` : ''}spread by more ` +
      `than 10 % after up to ${mostTries} tries (${worst.what} by ${Math.round(100 * worst.share)} %). ` +
      noiseReason(busy, threads),
  ];
}
