// `bench` beside other programs: pairs in turns, the ratio to each and to what it has to be, this CPU's own peaks, and the table as a file.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createCpuBackend } from '../../engine/backends/cpu/backend.ts';
import { findNative, loadNative, multiplyAddRate } from '../../engine/backends/cpu/native.ts';
import { measurePeaks } from '../../engine/bench/profile.ts';
import { mostOfPeer } from '../../engine/bench/peer-limits.ts';
import { workloads } from '../../engine/bench/workloads.ts';
import { isRunning } from '../../engine/system/alive.ts';
import { startTrainyard, temporaryHome, trainyard } from '../support/cli.ts';

interface Told {
  readonly value: number;
  readonly must: number;
  readonly rounds: number;
  readonly shareOfPeak: number;
  readonly shareOfCopy: number;
  readonly peers: readonly { readonly peer: string; readonly value: number; readonly ratio: number; mode?: string }[];
}

/** A peer that takes so many milliseconds, and 9 times as many in its first round; it leaves a line in `log` with what it was given. */
function slowFirst(log: string, milliseconds: number): string {
  const program = path.join(path.dirname(log), 'peer.cjs');
  const lines = [
    `const fs = require('node:fs');`,
    `fs.appendFileSync(${JSON.stringify(log)}, (process.env.ATEN_CPU_CAPABILITY ?? 'its best') + '\\n');`,
    `const rounds = fs.readFileSync(${JSON.stringify(log)}, 'utf8').trim().split('\\n').length;`,
    `const value = rounds === 1 ? ${9 * milliseconds} : ${milliseconds};`,
    `console.log(JSON.stringify({ peer: 'other', workload: 'mlp', threads: 1, mode: 'compile', value }));`,
  ];
  fs.writeFileSync(program, lines.join('\n'));
  return `${process.execPath} ${program}`;
}

test('the ratio to a peer is the median of pairs, beside what it must be; the table is kept as a file', async (t) => {
  const home = temporaryHome(t);
  const [log, file] = [path.join(home, 'log'), path.join(home, 'table.json')];
  const words = ['bench', '--only', 'mlp', '--threads', '1', '--peer', slowFirst(log, 1000), '--rounds', '3'];
  const { code, events } = await trainyard(home, ...words, '--out', file, '--json');
  assert.equal(code, 0);
  const row = events[0] as unknown as Told;
  assert.equal(fs.readFileSync(log, 'utf8'), 'its best\n'.repeat(3));
  const [peer] = row.peers;
  assert.deepEqual([row.must, row.rounds, peer.peer, peer.mode], [0.55, 3, 'other ×1', 'compile']);
  assert.equal(peer.value, 1000, 'the median, not the mean with the slow first round');
  assert.ok(Math.abs(peer.ratio / (row.value / 1000) - 1) < 0.5 && peer.ratio > 0);
  assert.ok(row.shareOfPeak > 0 && row.shareOfPeak <= 1.1 && row.shareOfCopy > 0 && row.shareOfCopy <= 1.1);
  const kept = JSON.parse(fs.readFileSync(file, 'utf8')) as { rows: unknown; machine: object; peerVariables: object };
  assert.deepEqual(kept.rows, events);
  assert.deepEqual([Object.keys(kept.machine), kept.peerVariables], [['cpu', 'instructions', 'cores', 'node'], {}]);
});

test('kept to AVX2, so are the peers, and it is said; what must be is held against the fastest of them', async (t) => {
  const home = temporaryHome(t);
  const log = path.join(home, 'log');
  const slow = `echo '{"peer":"slow","workload":"mlp","value":1e9}' #`;
  const peers = [slow, slowFirst(log, 1e-6), slow.replace('slow', 'slower')].flatMap((peer) => ['--peer', peer]);
  const words = ['bench', '--only', 'mlp', '--threads', '1', ...peers, '--rounds', '1'];
  const { code, stdout, stderr } = await startTrainyard(home, words, undefined, { TRAINYARD_NATIVE: 'avx2' }).finished;
  assert.equal(code, 0);
  assert.equal(fs.readFileSync(log, 'utf8'), 'avx2\n');
  assert.match(stderr, /ATEN_CPU_CAPABILITY=avx2/);
  assert.match(stdout, /of peak +of copy +slow, ms +ratio +other ×1, ms +ratio +slower, ms +ratio +must\n/);
  assert.match(stdout, /0\.55 missed/);
});

test('a peer that fails, or prints what is no JSON, ends it with a line that says so', async (t) => {
  const home = temporaryHome(t);
  const told = async (peer: string): Promise<string> => {
    const { code, stdout, stderr } = await trainyard(
      home,
      'bench',
      '--only',
      'gemm-64',
      '--rounds',
      '1',
      '--peer',
      peer,
    );
    assert.equal(code, 2);
    // A slow machine is told how far it is; there is no table.
    assert.doesNotMatch(stdout, /GFLOP/);
    return stderr;
  };
  assert.match(await told('exit 3; '), /The peer “exit 3; ” failed \(exit code 3\)/);
  assert.match(await told('kill -9 $$; '), /failed \(SIGKILL\)/);
  const printing = (value: string): string => `echo '{"peer":"p","workload":"gemm-64","value":${value}}' #`;
  for (const value of ['"3"', 'null', '0', '-3']) {
    assert.match(await told(printing(value)), /The peer .* printed “\{"peer".*value \(milliseconds\) a number above 0/);
  }
  const inSeconds = `echo '{"peer":"p","workload":"gemm-64","value":0.5,"unit":"s"}' #`;
  assert.match(await told(inSeconds), /"unit":"s"\}”\. The unit of gemm-64 is ms\/step\./);
  assert.match(await told("printf '{%0100000d' 1 #"), /printed “\{0{199}…”\. No line may have more than 65536/);
  assert.match(await told('echo {half'), /printed “\{half --only gemm-64”\. A line that begins with \{ has to be JSON/);
});

test('a peer that has no time for a workload is named; one that hangs ends with the bench, and so does what it started', async (t) => {
  const home = temporaryHome(t);
  const words = ['bench', '--only', 'gemm-64', '--threads', '1', '--rounds', '1', '--peer'];
  const { code, stderr, stdout } = await trainyard(home, ...words, 'echo hello #');
  assert.equal(code, 0);
  assert.match(stderr, /The peer “echo hello #” has no time for gemm-64\./);
  assert.match(stdout, /gemm-64/);

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    const told = path.join(home, `told-${signal}`);
    const bench = startTrainyard(home, [
      ...words,
      `sleep 300 & echo $! $$ > ${told}.part; mv ${told}.part ${told}; wait #`,
    ]);
    t.after(() => bench.child.kill('SIGKILL'));
    while (!fs.existsSync(told)) await setTimeout(50);
    const own = fs.readFileSync(told, 'utf8').trim().split(' ').map(Number);
    bench.child.kill(signal);
    await once(bench.child, 'exit');
    t.after(() => own.forEach((pid) => isRunning(pid) && process.kill(pid, 'SIGKILL')));
    for (const pid of own) {
      for (let tries = 0; isRunning(pid); tries++) {
        assert.ok(tries < 100, `process ${pid} is left after ${signal}`);
        await setTimeout(50);
      }
    }
  }
});

test('of the suite tables each time of a peer stands beside ours of its round: two in one, none in another', async (t) => {
  const home = temporaryHome(t);
  const rounds = path.join(home, 'rounds');
  const line = `echo '{"peer":"p","workload":"predict","unit":"ms/prediction","value":1000,"cpu":1000}'`;
  // What it leaves running holds its output open.
  const peer = `sleep 300 & echo x >> ${rounds}; [ $(wc -l < ${rounds}) = 1 ] || { ${line}; ${line}; } #`;
  const words = ['--suite', 'tables', '--only', 'predict', '--rows', '400', '--threads', '1', '--rounds', '2'];
  const { code, events } = await trainyard(home, 'bench', ...words, '--peer', peer, '--json');
  assert.equal(code, 0);
  const [{ ratios, cpuRatios }] = events as unknown as readonly Record<'ratios' | 'cpuRatios', { p: number }>[];
  assert.ok(ratios.p > 1 && cpuRatios.p > 1);
});

test('limits are of workloads there are', () => {
  const names = new Set(workloads.map(({ name }) => name));
  assert.deepEqual(
    Object.keys(mostOfPeer).filter((name) => !names.has(name)),
    [],
  );
});

test('no product is faster than multiply-adds alone', { skip: !findNative() && 'no native addon' }, async () => {
  const alone = multiplyAddRate(loadNative(findNative()!));
  const backend = createCpuBackend({ threads: 1 });
  const { gflops } = await measurePeaks(backend, () => performance.now());
  await backend.close();
  // Both are rates of a machine that others use, too.
  assert.ok(gflops >= alone / 2 && alone > 1, `${alone} alone, ${gflops} as the peak`);
});
