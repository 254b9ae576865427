// onnxruntime for WebAssembly, ready to run a model. In a package its program is kept compressed (scripts/packages/after-pack.mjs).

import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type * as Onnxruntime from 'onnxruntime-web/wasm';

export async function openOnnxruntime(): Promise<typeof Onnxruntime> {
  const onnx = await import('onnxruntime-web/wasm');
  // Threads would each take a process's worth of start for 256 rows.
  onnx.env.wasm.numThreads = 1;
  onnx.env.wasm.wasmBinary ??= packedProgram();
  return onnx;
}

/** Undefined in a checkout: onnxruntime finds it by itself there. */
function packedProgram(): Uint8Array<ArrayBuffer> | undefined {
  const entry = createRequire(import.meta.url).resolve('onnxruntime-web/wasm');
  const file = path.join(path.dirname(entry), 'ort-wasm-simd-threaded.wasm.br');
  return fs.existsSync(file) ? new Uint8Array(brotliDecompressSync(fs.readFileSync(file))) : undefined;
}
