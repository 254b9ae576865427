// Entry of the process that runs exported models: onnxruntime and nothing of the engine that trained them. An Electron utility process,
// or a plain Node process started by the command line (electron/cli/onnx-process.ts).

import { certificateText, certify } from '../../engine/export/certificate.ts';
import { proofFiles } from '../../engine/export/proof.ts';
import type { ModelInput, OnnxService } from '../../engine/protocol/exports.ts';
import { TrainyardError } from '../../engine/protocol/errors.ts';
import { announceReady } from '../../engine/protocol/port.ready.ts';
import { ownValue } from '../../engine/protocol/own.ts';
import { openOnnxruntime } from './onnx-program.ts';
import { serve } from '../../engine/protocol/rpc.ts';
import { portOfParent } from './parent.ts';
import { reportOwnFailures } from './uncaught.ts';
import type { InferenceSession, Tensor } from 'onnxruntime-web/wasm';

reportOwnFailures('model check');
const port = portOfParent();

serve<OnnxService>(port, {
  async certify({ name, check }) {
    const { model, inputs, answers } = check;
    const onnx = openOnnxruntime();
    const session = await onnx.InferenceSession.create(model).catch(refuse);
    try {
      const feeds = Object.fromEntries(inputs.map((input) => [input.name, tensorOf(onnx.Tensor, input)]));
      const found = await session.run(feeds).catch(refuse);
      const values = dataOf(found, answers.probabilities ?? answers.answer) as Float32Array | Float64Array;
      const labels = answers.probabilities === null ? null : (dataOf(found, answers.answer) as string[]);
      const runtime = `onnxruntime ${onnx.env.versions.web ?? onnx.env.versions.common}`;
      const certificate = certify(check, { values, labels }, runtime);
      return { certificate, files: proofFiles(name, check, certificate), proven: [certificateText(certificate)] };
    } finally {
      await session.release();
    }
  },
});
announceReady(port);

/** Of an output, whose name may be that of a column. */
function dataOf(outputs: InferenceSession.OnnxValueMapType, name: string): Tensor['data'] {
  const output = ownValue(outputs, name);
  if (output === undefined) return refuse(new Error(`it has no output ${name}`));
  return output.data;
}

function refuse(error: unknown): never {
  const reason = error instanceof Error ? error.message.trim().replace(/\.?$/, '.') : String(error);
  throw new TrainyardError(
    'run.export_unreadable',
    `onnxruntime cannot run the model: ${reason}`,
    'Export the run again.',
  );
}

function tensorOf(make: typeof Tensor, { type, data, shape }: ModelInput): Tensor {
  if (type === 'string') return new make('string', [...(data as readonly string[])], shape);
  if (type === 'int64') return new make('int64', BigInt64Array.from(data as Int32Array, BigInt), shape);
  if (type === 'uint8') return new make('uint8', data as Uint8Array, shape);
  return new make('float64', data as Float64Array, shape);
}
