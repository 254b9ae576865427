// ONNX files as the official protobuf schema has them (onnx.proto of the package onnx-proto, written by protobufjs). Everything
// else of the export speaks of tensors and attributes; only this file knows the messages.

import onnxProto from 'onnx-proto';
import type { onnx as schema } from 'onnx-proto';

const { onnx } = onnxProto;

export type OnnxType = 'float' | 'double' | 'int64' | 'int32' | 'uint8' | 'string' | 'bool';

/** A tensor with its values. */
export type OnnxTensor =
  | { readonly type: 'float'; readonly shape: readonly number[]; readonly values: Float32Array }
  | { readonly type: 'double'; readonly shape: readonly number[]; readonly values: Float64Array }
  | { readonly type: 'int64'; readonly shape: readonly number[]; readonly values: readonly number[] }
  | { readonly type: 'string'; readonly shape: readonly number[]; readonly values: readonly string[] };

/** An attribute of a node. Whole numbers are ints only where marked: JavaScript does not tell 1 from 1.0. */
export type OnnxAttribute =
  | { readonly int: number }
  | { readonly ints: readonly number[] }
  | { readonly float: number }
  | { readonly floats: readonly number[] }
  | { readonly text: string }
  | { readonly texts: readonly string[] }
  | { readonly tensor: OnnxTensor };

export interface OnnxNode {
  readonly op: string;
  /** Empty: the operators of ONNX itself. */
  readonly domain: '' | 'ai.onnx.ml';
  /** Names of values; empty = an optional input left out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, OnnxAttribute>>;
}

/** What goes into a model or comes out of it. A size that is a text has any value, by that name. */
export interface OnnxValue {
  readonly name: string;
  readonly type: OnnxType;
  readonly shape: readonly (number | string)[];
  /** For people. */
  readonly about: string;
}

export interface OnnxModel {
  readonly name: string;
  readonly about: string;
  readonly nodes: readonly OnnxNode[];
  readonly tensors: Readonly<Record<string, OnnxTensor>>;
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  readonly metadata: Readonly<Record<string, string>>;
}

/** Versions of the operator sets and of the file format that everything here is written for. */
export const opset = 20;
const mlOpset = 3;
const formatVersion = 9;

const types: Readonly<Record<OnnxType, schema.TensorProto.DataType>> = {
  float: onnx.TensorProto.DataType.FLOAT,
  double: onnx.TensorProto.DataType.DOUBLE,
  int64: onnx.TensorProto.DataType.INT64,
  int32: onnx.TensorProto.DataType.INT32,
  uint8: onnx.TensorProto.DataType.UINT8,
  string: onnx.TensorProto.DataType.STRING,
  bool: onnx.TensorProto.DataType.BOOL,
};

/** The number by which ONNX knows a type: what Cast is told. */
export const typeCode = (type: OnnxType): number => types[type];

export function encodeModel(model: OnnxModel): Uint8Array {
  const { name, about, nodes, tensors, inputs, outputs, metadata } = model;
  const message = {
    irVersion: formatVersion,
    producerName: 'trainyard',
    docString: about,
    opsetImport: [
      { domain: '', version: opset },
      { domain: 'ai.onnx.ml', version: mlOpset },
    ],
    metadataProps: Object.entries(metadata).map(([key, value]) => ({ key, value })),
  };
  const graph = {
    name,
    initializer: Object.entries(tensors).map(([key, tensor]) => encodeTensor(key, tensor)),
    input: inputs.map(encodeValue),
    output: outputs.map(encodeValue),
  };
  // Node by node: protobufjs has an object for each number that it is about to write, and trees have millions.
  const parts = [
    onnx.GraphProto.encode(graph).finish(),
    ...nodes.flatMap((node, at) => field(1, encodeNode(node, at))),
  ];
  return joined([onnx.ModelProto.encode(message).finish(), ...field(7, joined(parts))]);
}

function encodeNode({ op, domain, inputs, outputs, attributes }: OnnxNode, index: number): Uint8Array {
  const own = { name: `${op}_${index}`, opType: op, domain, input: [...inputs], output: [...outputs] };
  const encoded = Object.entries(attributes).flatMap(([name, value]) => field(5, encodeAttribute(name, value)));
  return joined([onnx.NodeProto.encode(own).finish(), ...encoded]);
}

function encodeAttribute(name: string, value: OnnxAttribute): Uint8Array {
  const head = onnx.AttributeProto.encode(attributeOf(name, value)).finish();
  return 'ints' in value ? joined([head, ...field(8, packed(value.ints))]) : head;
}

function attributeOf(name: string, value: OnnxAttribute): schema.IAttributeProto {
  const { AttributeType: kinds } = onnx.AttributeProto;
  if ('int' in value) return { name, type: kinds.INT, i: value.int };
  if ('ints' in value) return { name, type: kinds.INTS };
  if ('float' in value) return { name, type: kinds.FLOAT, f: value.float };
  if ('floats' in value) return { name, type: kinds.FLOATS, floats: [...value.floats] };
  if ('text' in value) return { name, type: kinds.STRING, s: utf8(value.text) };
  if ('tensor' in value) return { name, type: kinds.TENSOR, t: encodeTensor(name, value.tensor) };
  return { name, type: kinds.STRINGS, strings: utf8All(value.texts) };
}

function encodeTensor(name: string, tensor: OnnxTensor): schema.ITensorProto {
  const common = { name, dims: [...tensor.shape], dataType: types[tensor.type] };
  if (tensor.type === 'string') return { ...common, stringData: tensor.values.map(utf8) };
  return { ...common, rawData: bytesOf(tensor) };
}

/** Little-endian, as the format demands. */
function bytesOf(tensor: Exclude<OnnxTensor, { type: 'string' }>): Uint8Array {
  const values = tensor.type === 'int64' ? BigInt64Array.from(tensor.values, BigInt) : tensor.values;
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function encodeValue({ name, type, shape, about }: OnnxValue): schema.IValueInfoProto {
  const dim = shape.map((size) => (typeof size === 'string' ? { dimParam: size } : { dimValue: size }));
  return { name, docString: about, type: { tensorType: { elemType: types[type], shape: { dim } } } };
}

/** Texts of which many are the same. */
function utf8All(texts: readonly string[]): Uint8Array[] {
  const known = new Map<string, Uint8Array>();
  return texts.map((text) => {
    const found = known.get(text) ?? utf8(text);
    known.set(text, found);
    return found;
  });
}

/** A message, or packed numbers, as the field of this number: one that may stand behind all others of its message. */
function field(number: number, bytes: Uint8Array): readonly Uint8Array[] {
  return [packed([number * 8 + 2, bytes.byteLength]), bytes];
}

/** Whole numbers of at most 53 bits as varints, negative ones as the ten bytes of their 64 bits. */
function packed(values: readonly number[]): Uint8Array {
  let at = 0;
  let bytes = new Uint8Array(values.length * 2 + 10);
  for (const value of values) {
    if (at + 10 > bytes.length) bytes = joined([bytes, new Uint8Array(bytes.length)]);
    if (value < 0) {
      let rest = BigInt.asUintN(64, BigInt(value));
      for (; rest > 127n; rest >>= 7n) bytes[at++] = Number(rest & 127n) | 128;
      bytes[at++] = Number(rest);
    } else {
      let rest = value;
      for (; rest > 127; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) | 128;
      bytes[at++] = rest;
    }
  }
  return bytes.subarray(0, at);
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.byteLength;
  }
  return all;
}

/** UTF-8 without TextEncoder, which is not part of the language. */
export function utf8(text: string): Uint8Array {
  const escaped = encodeURIComponent(text.toWellFormed());
  const bytes: number[] = [];
  for (let at = 0; at < escaped.length; at++) {
    if (escaped[at] !== '%') bytes.push(escaped.charCodeAt(at));
    else {
      bytes.push(Number.parseInt(escaped.slice(at + 1, at + 3), 16));
      at += 2;
    }
  }
  return Uint8Array.from(bytes);
}
