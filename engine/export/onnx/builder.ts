// An ONNX graph while it grows: nodes are added in order, each value has a name of its own, equal constants are kept once.

import type { OnnxAttribute, OnnxNode, OnnxTensor, OnnxType, OnnxValue } from './proto.ts';
import { typeCode } from './proto.ts';

/** Name of a value. */
export type ValueName = string;

/** The size that is any number of rows. */
export const anyRows = 'N';

/** Values of a constant that is looked for among those there are. */
const mostCompared = 64;

export class OnnxBuilder {
  readonly nodes: OnnxNode[] = [];
  readonly tensors: Record<string, OnnxTensor> = {};
  readonly inputs: OnnxValue[] = [];
  readonly outputs: OnnxValue[] = [];
  readonly #names = new Set<string>();
  #prefix = '';
  readonly #constants = new Map<string, ValueName>();
  #next = 0;

  /** An input under exactly this name. */
  input(value: OnnxValue): ValueName {
    this.#names.add(value.name);
    this.inputs.push(value);
    return value.name;
  }

  /** Makes a value an output, under its name or, where an input has that, with a line behind it. */
  output(value: ValueName, output: OnnxValue): ValueName {
    const name = this.#unused(output.name);
    this.nodes.push({ op: 'Identity', domain: '', inputs: [value], outputs: [name], attributes: {} });
    this.outputs.push({ ...output, name });
    return name;
  }

  /** Adds a node with one output. `null` = an optional input left out. */
  one(op: string, inputs: readonly (ValueName | null)[], attributes: OnnxNode['attributes'] = {}): ValueName {
    return this.#add('', op, inputs, attributes);
  }

  /** The first of the outputs of a node that has so many. */
  first(op: string, inputs: readonly ValueName[], outputs: number, attributes: OnnxNode['attributes'] = {}): ValueName {
    const names = Array.from({ length: outputs }, () => this.#unused(`${op.toLowerCase()}.${this.#next++}`));
    this.nodes.push({ op, domain: '', inputs, outputs: names, attributes });
    return names[0];
  }

  /** The same, of the operators for traditional models. */
  ml(op: string, inputs: readonly ValueName[], attributes: OnnxNode['attributes']): ValueName {
    return this.#add('ai.onnx.ml', op, inputs, attributes);
  }

  cast(value: ValueName, type: OnnxType): ValueName {
    return this.one('Cast', [value], { to: { int: typeCode(type) } });
  }

  /** What `work` adds; weights of the model within the model begin with `prefix`. */
  within<T>(prefix: string, work: () => T): T {
    const outer = this.#prefix;
    this.#prefix += prefix;
    try {
      return work();
    } finally {
      this.#prefix = outer;
    }
  }

  /** A tensor of the model under its own name. */
  weight(name: string, tensor: OnnxTensor): ValueName {
    return this.#keep(`${this.#prefix}${name}`, tensor);
  }

  #keep(name: string, tensor: OnnxTensor): ValueName {
    const own = this.#unused(name);
    this.tensors[own] = tensor;
    return own;
  }

  float(values: ArrayLike<number>, shape: readonly number[] = []): ValueName {
    return this.#constant({ type: 'float', shape, values: Float32Array.from(values) });
  }

  double(values: ArrayLike<number>, shape: readonly number[] = []): ValueName {
    return this.#constant({ type: 'double', shape, values: Float64Array.from(values) });
  }

  int64(values: readonly number[], shape: readonly number[] = [values.length]): ValueName {
    return this.#constant({ type: 'int64', shape, values });
  }

  strings(values: readonly string[]): ValueName {
    return this.#constant({ type: 'string', shape: [values.length], values });
  }

  #add(
    domain: OnnxNode['domain'],
    op: string,
    inputs: readonly (ValueName | null)[],
    attributes: Readonly<Record<string, OnnxAttribute>>,
  ): ValueName {
    const name = this.#unused(`${op.toLowerCase()}.${this.#next++}`);
    this.nodes.push({ op, domain, inputs: inputs.map((input) => input ?? ''), outputs: [name], attributes });
    return name;
  }

  #constant(tensor: OnnxTensor): ValueName {
    if (tensor.values.length > mostCompared) return this.#keep(`constant.${this.#next++}`, tensor);
    const key = `${tensor.type} ${tensor.shape.join()} ${JSON.stringify([...tensor.values])}`;
    const known = this.#constants.get(key);
    if (known !== undefined) return known;
    const name = this.#keep(`constant.${this.#next++}`, tensor);
    this.#constants.set(key, name);
    return name;
  }

  #unused(wanted: string): string {
    let name = wanted;
    while (this.#names.has(name)) name += '_';
    this.#names.add(name);
    return name;
  }
}
