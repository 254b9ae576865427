// What other programs take for a workload. A peer is a command that prints one JSON object a line with `peer`, `workload` and `value`
// (milliseconds), if it knows with `cpu` (milliseconds of processor time) and `threads`.

import { spawn } from 'node:child_process';

export interface PeerTime {
  readonly peer: string;
  readonly value: number;
  readonly cpu?: number;
}

interface PeerLine extends PeerTime {
  readonly workload: string;
  readonly threads?: number;
}

/** Runs a peer for one workload and reads its lines; those for other workloads are passed over. `more`: words behind the command. */
export async function runPeer(command: string, workload: string, more = ''): Promise<readonly PeerTime[]> {
  const line = command.includes('{only}') ? command.replaceAll('{only}', workload) : `${command} --only ${workload}`;
  const child = spawn(line + more, { shell: true, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  for await (const chunk of child.stdout) text += String(chunk);
  return text
    .split('\n')
    .filter((part) => part.startsWith('{'))
    .map((part) => JSON.parse(part) as Partial<PeerLine>)
    .flatMap(({ peer, workload: name, value, cpu, threads }) =>
      peer !== undefined && name === workload && value !== undefined
        ? [{ peer: threads ? `${peer} ×${threads}` : peer, value, cpu }]
        : [],
    );
}

/** Of values in any order; of an even number the upper one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
