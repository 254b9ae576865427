// What other programs take for a workload. A peer is a command that prints one JSON object a line with `peer`, `workload` and `value`
// (milliseconds), if it knows with `unit` (of what), `cpu` (milliseconds of processor time), `threads` and `mode` (which of its ways was the
// fastest).

import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { InputError } from '../../../engine/protocol/errors.ts';
import type { Output } from '../output.ts';

export interface PeerTime {
  readonly peer: string;
  readonly value: number;
  readonly cpu?: number;
  readonly mode?: string;
}

const peerLine = z.object({
  peer: z.string(),
  value: z.number().positive(),
  unit: z.string().optional(),
  cpu: z.number().nonnegative().optional(),
  threads: z.number().nonnegative().optional(),
  mode: z.string().optional(),
});

/** What keeps PyTorch and the libraries it calls to AVX2, where our own kernels are kept to it: else the pair would not be fair. */
const avx2Peers = { ATEN_CPU_CAPABILITY: 'avx2', ONEDNN_MAX_CPU_ISA: 'AVX2', MKL_ENABLE_INSTRUCTIONS: 'AVX2' } as const;

/** Variables that peers are given beside those of this process. */
export const peerVariables = (native = process.env['TRAINYARD_NATIVE']): Readonly<Record<string, string>> =>
  native === 'avx2' ? avx2Peers : {};

/** Characters of a line that is read; what is longer is no result. */
const longestLine = 2 ** 16;

/** What a peer is asked to time. */
export interface Asked {
  readonly name: string;
  readonly unit: string;
}

/**
 * Runs a peer for one workload and reads its lines; those for other workloads are passed over. `more`: words behind the command. Throws
 * InputError where it fails, has another unit, or a line cannot be read: a table without the peer would pass for one with it. A peer that has
 * no time for the workload gives none. It ends with this process, and what it started with it.
 */
export async function runPeer(command: string, asked: Asked, more = ''): Promise<readonly PeerTime[]> {
  const { name } = asked;
  const line = command.includes('{only}') ? command.replaceAll('{only}', name) : `${command} --only ${name}`;
  const env = { ...peerVariables(), ...process.env };
  const child = startPeer(line + more, env);
  try {
    const ended = once(child, 'exit') as Promise<[code: number | null, signal: string | null]>;
    // What it leaves behind would keep its output open.
    child.once('exit', () => endPeer(child));
    const times: PeerTime[] = [];
    let part = '';
    for await (const chunk of child.stdout.setEncoding('utf8')) {
      const lines = (part + String(chunk)).split('\n');
      part = lines.pop() ?? '';
      if (part.length > longestLine) {
        throw unreadable(command, part, `No line may have more than ${longestLine} characters.`);
      }
      times.push(...lines.flatMap((text) => readLine(text, command, asked)));
    }
    times.push(...readLine(part, command, asked));
    const [code, signal] = await ended;
    if (code === 0) return times;
    const how = signal === null ? `exit code ${code}` : signal;
    throw new InputError('input.peer', `The peer “${command}” failed (${how}).`, `It was run as: ${line}${more}`);
  } finally {
    endPeer(child);
  }
}

const onWindows = process.platform === 'win32';
/** Ends a shell's group once the other end of its descriptor 3 is closed, however this process goes; what it runs knows nothing of it. */
const watched = '(cat <&3; kill -9 0) >/dev/null 2>&1 & exec sh -c "$1" 3<&-';

type Peer = ChildProcessByStdio<null, Readable, null>;

/** Starts a peer in a shell; with a group of its own that is ended together with what it runs. */
function startPeer(line: string, env: NodeJS.ProcessEnv): Peer {
  const stdio = ['ignore', 'pipe', 'inherit'] as const;
  if (onWindows) return spawn(line, { shell: true, stdio: [...stdio], env });
  return spawn('/bin/sh', ['-c', watched, 'sh', line], {
    detached: true,
    stdio: [...stdio, 'pipe'],
    env,
  }) as ChildProcess as Peer;
}

/** Ends a peer that still runs, and what it started. */
function endPeer(child: Peer): void {
  if (onWindows) child.kill();
  else child.stdio[3]?.destroy();
}

/** The time in a line of a peer; none in one that is no JSON or of another workload. */
function readLine(text: string, command: string, { name, unit }: Asked): readonly PeerTime[] {
  if (!text.startsWith('{')) return [];
  const found = parsed(text);
  if (found === null) throw unreadable(command, text, 'A line that begins with { has to be JSON.');
  if (found.workload !== name || found.peer === undefined) return [];
  const result = peerLine.safeParse(found);
  if (!result.success) {
    throw unreadable(
      command,
      text,
      'peer and mode have to be texts, value (milliseconds) a number above 0, cpu and threads numbers.',
    );
  }
  const { peer, value, cpu, threads, mode } = result.data;
  if ((result.data.unit ?? unit) !== unit) throw unreadable(command, text, `The unit of ${name} is ${unit}.`);
  return [{ peer: threads ? `${peer} ×${threads}` : peer, value, cpu, ...(mode === undefined ? {} : { mode }) }];
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return null;
  }
}

function unreadable(command: string, text: string, hint: string): InputError {
  return new InputError('input.peer', `The peer “${command}” printed “${shortened(text)}”.`, hint);
}

const shortened = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** Says which commands gave nothing for a workload: their columns are not there. */
export function noteWithout(commands: ReadonlySet<string>, workload: string, output: Pick<Output, 'note'>): void {
  for (const command of commands) output.note(`The peer “${command}” has no time for ${workload}.`);
}

/** Of values in any order; of an even number the upper one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
