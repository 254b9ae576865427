// Starts the process that runs exported models, for the command line.

import { fork } from 'node:child_process';
import type { HostProcess } from '../../engine/protocol/command-line.ts';
import type { OnnxService } from '../../engine/protocol/exports.ts';
import { processPort } from '../../engine/protocol/port.node.ts';
import { whenReady } from '../../engine/protocol/port.ready.ts';
import { connect } from '../../engine/protocol/rpc.ts';
import type { OnnxHost } from '../../engine/runs/export.ts';

const peer = 'the process that runs exported models';

/** @param start  starts the process where this one's program is no Node */
export async function startOnnx(start: () => HostProcess = startNode): Promise<OnnxHost> {
  const { port, ready, kill } = start();
  const service = connect<OnnxService>(port, { peer });
  await ready;
  return { service, kill };
}

function startNode(): HostProcess {
  const child = fork(new URL('../hosts/onnx.ts', import.meta.url), [], {
    execArgv: process.execArgv,
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const port = processPort(child);
  return {
    port,
    ready: whenReady(port, peer),
    ended: new Promise((resolve) => child.once('exit', (code, signal) => resolve(`it ended with ${signal ?? code}`))),
    kill: () => void child.kill('SIGKILL'),
  };
}
