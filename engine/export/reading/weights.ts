// Weights read back from safetensors: each tensor found under the name PyTorch gives it, turned back and held against the run's own,
// bit for bit.

import { isNetworkFile } from '../../learners/network/file.ts';
import { decodeSafetensors, decodeText } from '../../train/safetensors.ts';
import type { SafeTensor } from '../../train/safetensors.ts';
import type { OpenedRun } from '../opened.ts';
import { turnedIn } from '../outward.ts';
import { resolvedOf } from '../torch/model.ts';
import { moduleNames } from '../torch/names.ts';
import { counted, differs, fileOf } from './differs.ts';

type Run = Pick<OpenedRun, 'file' | 'tensors'>;

/** Says what was equal. */
export function readWeights(file: Uint8Array, run: Run): string {
  const { tensors } = decodeSafetensors(file);
  const expected = Object.entries(run.tensors);
  const found = Object.keys(tensors).length;
  if (found !== expected.length) differs(`${counted(found, 'tensor')} instead of ${expected.length}`);
  const outside = namesOutside(run);
  const turned = turnedIn(run.file);
  let values = 0;
  for (const [name, tensor] of expected) {
    const written = Object.hasOwn(tensors, outside(name)) ? tensors[outside(name)] : undefined;
    if (!written) return differs(`the tensor ${outside(name)} is missing`);
    if (!equalBits(tensor, written, turned(name, tensor))) differs(`the values of ${outside(name)} are others`);
    values += tensor.data.length;
  }
  return `${counted(found, 'tensor')} (${counted(values, 'value')}) equal to the run's weights bit for bit`;
}

/** The module has a place for each tensor of the file. */
export function readModule(source: Uint8Array, weights: Uint8Array): string {
  const text = decodeText(source);
  const modules = new Set(Object.keys(decodeSafetensors(weights).tensors).map((name) => name.split('.')[0]));
  for (const name of modules) {
    if (!text.includes(`self.add_module(${JSON.stringify(name)}`) && !text.includes(`self.${name} = `)) {
      differs(`model.py has no module ${name}`);
    }
  }
  return `model.py has a module for ${modules.size === 1 ? 'it' : `each of ${modules.size}`}`;
}

/** A weights file, its metadata, and the module beside it where there is one. */
export function readSafetensors(files: ReadonlyMap<string, Uint8Array>, run: OpenedRun): readonly string[] {
  const [path] = [...files.keys()].filter((name) => name.endsWith('.safetensors'));
  const file = fileOf(files, path);
  const { metadata } = decodeSafetensors(file);
  if (metadata['trainyard.model'] !== run.model || metadata['trainyard.preprocessing'] !== run.preprocessing) {
    differs('its model or preprocessing is another');
  }
  const source = [...files].find(([name]) => name.endsWith('.model.py'));
  return [
    readWeights(file, run),
    'model and preprocessing equal to the run’s, letter by letter',
    ...(source ? [readModule(source[1], file)] : []),
  ];
}

/** From the name of a tensor here to that of PyTorch. */
function namesOutside({ file }: Run): (name: string) => string {
  if (!isNetworkFile(file)) return (name) => name;
  const model = resolvedOf(file);
  const modules = moduleNames(model);
  const names = new Map(
    model.layers.flatMap(({ id, parameters, states }) =>
      [...parameters, ...states].map(({ name }) => [name, `${modules.get(id)}${name.slice(id.length)}`] as const),
    ),
  );
  return (name) => names.get(name) ?? name;
}

/** `turned`: [in, out] here and [out, in] there. */
export function equalBits(own: SafeTensor, written: SafeTensor, turned: boolean): boolean {
  const shape = turned ? [own.shape[1], own.shape[0]] : own.shape;
  if (shape.join() !== written.shape.join() || own.data.length !== written.data.length) return false;
  const [a, b] = [bitsOf(own.data), bitsOf(written.data)];
  if (!turned) return a.every((bits, at) => bits === b[at]);
  const [inputs, units] = own.shape;
  return a.every((bits, at) => bits === b[(at % units) * inputs + Math.floor(at / units)]);
}

const bitsOf = ({ buffer, byteOffset, length }: Float32Array): Uint32Array =>
  new Uint32Array(buffer, byteOffset, length);
