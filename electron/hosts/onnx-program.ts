// onnxruntime for WebAssembly, ready to run a model. A package holds it in one form of several: the one that is required, not
// imported, with its program compressed (electron-builder.yml, scripts/packages/after-pack.mjs).

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type * as Onnxruntime from 'onnxruntime-web/wasm';

const name = 'onnxruntime-web/wasm';
const load = createRequire(import.meta.url);

export function openOnnxruntime(): typeof Onnxruntime {
  const onnx = load(name) as typeof Onnxruntime;
  // Threads would each take a process's worth of start for 256 rows.
  onnx.env.wasm.numThreads = 1;
  onnx.env.wasm.wasmBinary ??= packedProgram();
  return onnx;
}

/** Undefined in a checkout: onnxruntime finds it by itself there. */
function packedProgram(): Uint8Array<ArrayBuffer> | undefined {
  const file = path.join(path.dirname(load.resolve(name)), 'ort-wasm-simd-threaded.wasm.br');
  return fs.existsSync(file) ? new Uint8Array(brotliDecompressSync(fs.readFileSync(file))) : undefined;
}
