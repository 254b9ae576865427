// Starts the process that runs exported models, for the command line.

import { fork } from 'node:child_process';
import type { OnnxService } from '../../engine/protocol/exports.ts';
import { processPort } from '../../engine/protocol/port.node.ts';
import { whenReady } from '../../engine/protocol/port.ready.ts';
import { connect } from '../../engine/protocol/rpc.ts';
import type { OnnxHost } from '../../engine/runs/export.ts';

export async function startOnnx(): Promise<OnnxHost> {
  const child = fork(new URL('../hosts/onnx.ts', import.meta.url), [], {
    execArgv: process.execArgv,
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const port = processPort(child);
  const peer = 'the process that runs exported models';
  const service = connect<OnnxService>(port, { peer });
  await whenReady(port, peer);
  return { service, kill: () => void child.kill('SIGKILL') };
}
