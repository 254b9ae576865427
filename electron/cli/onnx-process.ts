// Starts the process that runs exported models, for the command line.

import type { HostProcess } from '../../engine/protocol/command-line.ts';
import type { OnnxService } from '../../engine/protocol/exports.ts';
import { connect } from '../../engine/protocol/rpc.ts';
import type { OnnxHost } from '../../engine/runs/export.ts';
import { startNodeProcess } from './node-process.ts';

const peer = 'the process that runs exported models';

/** @param start  starts the process where this one's program is no Node */
export async function startOnnx(start: () => HostProcess = startNode): Promise<OnnxHost> {
  const { port, ready, kill } = start();
  const service = connect<OnnxService>(port, { peer });
  await ready;
  return { service, kill };
}

const startNode = (): HostProcess => startNodeProcess(new URL('../hosts/onnx.ts', import.meta.url), [], peer);
