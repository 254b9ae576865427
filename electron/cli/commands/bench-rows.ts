// A workload of `bench` as a row: timed in turns with peers, held against what it has to reach of the fastest of them and against this
// device's own peaks. Printed as a table, and kept as JSON.

import type { Backend } from '../../../engine/backends/backend.ts';
import { measure } from '../../../engine/bench/measure.ts';
import { mostOfPeer } from '../../../engine/bench/peer-limits.ts';
import type { Workload } from '../../../engine/bench/workload.ts';
import { ownValue } from '../../../engine/protocol/own.ts';
import { formatNumber, type Column, type Output } from '../output.ts';
import { median, noteWithout, runPeer } from './bench-peers.ts';

export interface Row {
  readonly workload: string;
  readonly device: string;
  readonly threads: number;
  readonly unit: string;
  /** Best milliseconds of a round, as the peers report; the median of the rounds. */
  readonly value: number;
  readonly rounds?: number;
  readonly gflops?: number;
  readonly software?: boolean;
  /** Of the time, what its multiply-adds and what its memory take at this device's measured peaks. */
  readonly shareOfPeak?: number;
  readonly shareOfCopy?: number;
  readonly peers?: readonly PeerResult[];
  /** Of the fastest peer's time at most: what it has to reach. */
  readonly must?: number;
}

interface PeerResult {
  readonly peer: string;
  /** Milliseconds, the median of the rounds. */
  readonly value: number;
  /** Which of its ways was the fastest, last. */
  readonly mode?: string;
  /** Our time as a share of theirs: the median of the pairs. */
  readonly ratio: number;
}

export interface Shares {
  readonly shareOfPeak: number;
  readonly shareOfCopy: number;
}

export interface Comparison {
  readonly backend: Backend;
  /** Of a workload that takes so many milliseconds on so many threads. */
  readonly sharesOf: (workload: Workload, milliseconds: number, threads: number) => Promise<Shares>;
  readonly peers: readonly string[];
  readonly rounds: number;
}

/** A GPU's work is timed in rounds this long, because waiting for it costs a few milliseconds. */
const gpuRoundMilliseconds = 100;

/** Times a workload, each round followed by the peers' own. */
export async function compareOne(
  workload: Workload,
  { backend, sharesOf, peers, rounds }: Comparison,
  output: Output,
): Promise<Row> {
  const ours: number[] = [];
  const theirs = new Map<string, { readonly mode?: string; readonly values: number[]; readonly ratios: number[] }>();
  const without = new Set<string>();
  let threads = 1;
  const roundMilliseconds = backend.device.kind === 'gpu' ? gpuRoundMilliseconds : 0;
  for (let round = 0; round < rounds; round++) {
    output.bar(round / rounds, `${workload.name} on ${backend.device.name}`);
    const open = await workload.open(backend);
    const { best } = await measure(open, () => performance.now(), { round: roundMilliseconds });
    threads = open.threads;
    open.close();
    ours.push(best);
    for (const command of peers) {
      output.bar(round / rounds, `${workload.name} by ${command}`);
      const times = await runPeer(command, workload);
      if (times.length === 0) without.add(command);
      for (const { peer, value, mode } of times) {
        const known = theirs.get(peer) ?? { values: [], ratios: [] };
        theirs.set(peer, { mode, values: [...known.values, value], ratios: [...known.ratios, best / value] });
      }
    }
  }
  output.clearBar();
  noteWithout(without, workload.name, output);
  const value = median(ours);
  const must = ownValue(mostOfPeer, workload.name);
  const found = [...theirs].map(([peer, { mode, values, ratios }]): PeerResult => ({
    peer,
    value: Number(median(values).toPrecision(5)),
    ...(mode === undefined ? {} : { mode }),
    ratio: Number(median(ratios).toPrecision(3)),
  }));
  return {
    workload: workload.name,
    device: backend.device.kind,
    threads,
    unit: workload.unit,
    value: Number(value.toPrecision(5)),
    rounds,
    gflops: Number((workload.flops / value / 1e6).toPrecision(4)),
    ...(await sharesOf(workload, value, threads)),
    ...(backend.device.software ? { software: true } : {}),
    ...(found.length > 0 ? { peers: found } : {}),
    ...(found.length > 0 && must !== undefined ? { must } : {}),
  };
}

const percent = (share: number | undefined): string => (share === undefined ? '–' : `${Math.round(100 * share)} %`);

/** `0.55, met`: against the fastest peer. */
function mustText({ must, peers = [] }: Row): string {
  if (must === undefined) return '–';
  const fastest = peers.toSorted((a, b) => a.value - b.value)[0];
  return `${must} ${fastest.ratio <= must ? 'met' : 'missed'}`;
}

export function printRows(output: Output, rows: readonly Row[]): void {
  const peers = [...new Set(rows.flatMap((row) => row.peers?.map(({ peer }) => peer) ?? []))];
  const told = (row: Row, peer: string): PeerResult | undefined => row.peers?.find((each) => each.peer === peer);
  const inTurns = rows.some(({ rounds = 1 }) => rounds > 1);
  output.table(rows, [
    { title: 'workload', value: (row) => row.workload },
    {
      title: 'device',
      value: (row) =>
        `${row.device}${row.threads > 1 ? ` ×${row.threads}` : ''}${row.software ? ' (software: for testing)' : ''}`,
    },
    { title: inTurns ? 'median' : 'best', value: (row) => `${formatNumber(row.value)} ${row.unit}`, right: true },
    { title: 'GFLOP/s', value: (row) => (row.gflops ? formatNumber(row.gflops) : '–'), right: true },
    { title: 'of peak', value: (row) => percent(row.shareOfPeak), right: true },
    { title: 'of copy', value: (row) => percent(row.shareOfCopy), right: true },
    ...peers.flatMap((peer): readonly Column<Row>[] => [
      {
        title: `${peer}, ms`,
        value: (row) => {
          const their = told(row, peer);
          return their ? `${formatNumber(their.value)}${their.mode === undefined ? '' : ` ${their.mode}`}` : '–';
        },
        right: true,
      },
      { title: 'ratio', value: (row) => told(row, peer)?.ratio.toString() ?? '–', right: true },
    ]),
    ...(rows.some(({ must }) => must !== undefined) ? [{ title: 'must', value: mustText }] : []),
  ]);
}
