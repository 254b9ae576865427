// What other programs take for a workload. A peer is a command that prints one JSON object a line with `peer`, `workload` and `value`
// (milliseconds), if it knows with `cpu` (milliseconds of processor time), `threads` and `mode` (which of its ways was the fastest).

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { InputError } from '../../../engine/protocol/errors.ts';

export interface PeerTime {
  readonly peer: string;
  readonly value: number;
  readonly cpu?: number;
  readonly mode?: string;
}

interface PeerLine extends PeerTime {
  readonly workload: string;
  readonly threads?: number;
}

/** What keeps PyTorch and the libraries it calls to AVX2, where our own kernels are kept to it: else the pair would not be fair. */
const avx2Peers = { ATEN_CPU_CAPABILITY: 'avx2', ONEDNN_MAX_CPU_ISA: 'AVX2', MKL_ENABLE_INSTRUCTIONS: 'AVX2' } as const;

/** Variables that peers are given beside those of this process. */
export const peerVariables = (native = process.env['TRAINYARD_NATIVE']): Readonly<Record<string, string>> =>
  native === 'avx2' ? avx2Peers : {};

/**
 * Runs a peer for one workload and reads its lines; those for other workloads are passed over. `more`: words behind the command. Throws
 * InputError where it fails, or a line cannot be read: a table without the peer would pass for one with it.
 */
export async function runPeer(command: string, workload: string, more = ''): Promise<readonly PeerTime[]> {
  const line = command.includes('{only}') ? command.replaceAll('{only}', workload) : `${command} --only ${workload}`;
  const env = { ...peerVariables(), ...process.env };
  const child = spawn(line + more, { shell: true, stdio: ['ignore', 'pipe', 'inherit'], env });
  let text = '';
  const ended = once(child, 'close') as Promise<[code: number | null, signal: string | null]>;
  for await (const chunk of child.stdout) text += String(chunk);
  const [code, signal] = await ended;
  if (code !== 0) {
    const how = signal === null ? `exit code ${code}` : signal;
    throw new InputError('input.peer', `The peer “${command}” failed (${how}).`, `It was run as: ${line}${more}`);
  }
  return text
    .split('\n')
    .filter((part) => part.startsWith('{'))
    .map((part) => readLine(part, command))
    .flatMap(({ peer, workload: name, value, cpu, threads, mode }) =>
      peer !== undefined && name === workload && value !== undefined
        ? [{ peer: threads ? `${peer} ×${threads}` : peer, value, cpu, ...(mode === undefined ? {} : { mode }) }]
        : [],
    );
}

function readLine(part: string, command: string): Partial<PeerLine> {
  try {
    return JSON.parse(part) as Partial<PeerLine>;
  } catch {
    throw new InputError(
      'input.peer',
      `The peer “${command}” printed “${part}”.`,
      'A line that begins with { has to be JSON.',
    );
  }
}

/** Of values in any order; of an even number the upper one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
