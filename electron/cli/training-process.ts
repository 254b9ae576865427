// The processes of `queue run`: one for each run that trains. It takes its rows from this one, over the port that carries its reports.

import type { HostProcess } from '../../engine/protocol/command-line.ts';
import type { DataService } from '../../engine/protocol/data.ts';
import type { TrainerHost } from '../../engine/protocol/hosts.ts';
import type { Port } from '../../engine/protocol/port.ts';
import { connect, serve } from '../../engine/protocol/rpc.ts';
import type { RunHost } from '../../engine/runs/hosts.ts';
import { startMilliseconds, within } from '../../engine/runs/within.ts';
import { startNodeProcess } from './node-process.ts';

const peer = 'the training process';
const service = 'rows';

export type RowsOfRun = Pick<DataService, 'readShard'>;

/** In that process: the rows. */
export const rowsBehind = (port: Port): RowsOfRun => connect<RowsOfRun>(port, { service, peer: 'the command' });

export interface TrainerOptions {
  readonly home: string;
  readonly rows: RowsOfRun;
  /** Starts the process where this one's program is no Node. */
  readonly start?: (args: readonly string[]) => HostProcess;
}

export async function startTrainer({ home, rows, start = startNode }: TrainerOptions): Promise<RunHost> {
  const { port, ready, ended, kill } = start([`--home=${home}`]);
  serve<RowsOfRun>(port, { readShard: (request) => rows.readShard(request) }, { service });
  const host = connect<TrainerHost>(port, { peer });
  try {
    await within(ready, startMilliseconds, 'The training process');
  } catch (error) {
    kill();
    throw error;
  }
  return { host, exited: ended, kill };
}

const startNode = (args: readonly string[]): HostProcess =>
  startNodeProcess(new URL('./trainer.ts', import.meta.url), args, peer);
