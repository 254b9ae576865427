// Which rows and columns a tree is grown on: functions of seed, stream and tree alone.

import { sequentialState, sequentialWords } from '../../optim/random.ts';

const streams = { rows: 3002, columns: 3003, cuts: 3004, bootstrap: 3005 } as const;
type Stream = keyof typeof streams;

/** Draws whole numbers below another, for a tree. */
export function drawer(seed: number, stream: Stream, tree: number): (below: number) => number {
  const next = sequentialWords(seed, streams[stream], tree);
  return (below) => Math.floor((next() / 2 ** 32) * below);
}

/** What such a drawer begins with, for a kernel that draws. */
export const drawerState = (seed: number, stream: Stream, tree: number): Uint32Array =>
  sequentialState(seed, streams[stream], tree);

/** A share of `rows` in their order, at least one, each subset as likely (Knuth, 3.4.2, algorithm S). */
export function drawRows(rows: Uint32Array, share: number, seed: number, tree: number): Uint32Array {
  if (share >= 1) return rows.slice();
  const wanted = Math.max(1, Math.round(share * rows.length));
  const drawn = new Uint32Array(wanted);
  const next = sequentialWords(seed, streams.rows, tree);
  for (let i = 0, taken = 0; taken < wanted; i++) {
    if ((next() / 2 ** 32) * (rows.length - i) < wanted - taken) drawn[taken++] = rows[i];
  }
  return drawn;
}

/** So many of the columns, in their order. */
export function drawColumns(columns: number, share: number, draw: (below: number) => number): Int32Array {
  const all = Int32Array.from({ length: columns }, (_, column) => column);
  const wanted = Math.max(1, Math.ceil(share * columns - 1e-9));
  if (wanted >= columns) return all;
  for (let i = 0; i < wanted; i++) {
    const j = i + draw(columns - i);
    [all[i], all[j]] = [all[j], all[i]];
  }
  return all.slice(0, wanted).sort();
}
