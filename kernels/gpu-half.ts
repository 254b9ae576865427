// Operands that are stored in 16 bits: a kernel is written once, for float32, and its accesses `x[i]` become calls that read and
// write 16 bits, numbers of type `f16` where the device has them (`shader-f16`), else pairs packed into words (`pack2x16float`, which every
// adapter has). Sums stay in float32. Of words, a thread that writes vectors of four owns whole ones; of one that writes single numbers the
// results go to float32 between the passes of the call, and a last pass packs them. Both ways store the same bits.

import type { GpuContext, GpuPass, WgslElement } from './gpu-contract.ts';
import { elementwise, scalarView, variableName } from './gpu-wgsl.ts';

/** Name of the words of an operand whose passes write it as float32. */
export const packedName = (operand: string): string => `${operand}_packed`;

/**
 * Those of the operands in 16 bits that have to be float32 between the passes of the call: what is written number by number, and
 * with `f16` of that only what is written more than once or read again, which would be rounded on the way.
 */
export function writtenSingly(passes: readonly GpuPass[], { halves, halfArithmetic }: GpuContext): ReadonlySet<string> {
  const singles = [...halves].filter((operand) => passes.some(({ writes }) => writes[operand] === 'f32'));
  return new Set(halfArithmetic ? singles.filter((operand) => !writtenOnce(passes, operand)) : singles);
}

function writtenOnce(passes: readonly GpuPass[], operand: string): boolean {
  const [writer, ...others] = passes.filter(({ writes }) => operand in writes);
  if (others.length > 0 || passes.some(({ reads }) => operand in reads)) return false;
  const name = variableName(operand);
  const code = throughAccessors(writer.code, new Map([[name, 'f32']]), new Set([name]));
  return !code.includes(`half_read_${name}(`);
}

/** Operands of a call that are stored in 16 bits. */
export interface HalfOperands {
  /** Elements of each. */
  readonly sizes: ReadonlyMap<string, number>;
  /** As `writtenSingly` says, which the passes see as float32 under their own name. */
  readonly single: ReadonlySet<string>;
  /** Words of its binding that come before the operand, where there are some. */
  readonly firstWords: ReadonlyMap<string, number>;
}

/** The passes of a call some of whose operands are stored in 16 bits. */
export function withHalves(
  passes: readonly GpuPass[],
  { sizes, single, firstWords }: HalfOperands,
  { limits, halfArithmetic }: Pick<GpuContext, 'limits' | 'halfArithmetic'>,
): readonly GpuPass[] {
  const shifted = [...single].find((operand) => firstWords.has(operand));
  if (shifted !== undefined) throw new RangeError(`${shifted} is packed as a whole, and begins within its binding`);
  const packed = new Set([...sizes.keys()].filter((operand) => !single.has(operand)));
  const rewritten = passes.map((pass) => inHalves(pass, packed, firstWords, halfArithmetic ? asNumbers : asWords));
  return [...rewritten, ...[...single].map((operand) => packPass(operand, sizes.get(operand)!, limits))];
}

function inHalves(
  pass: GpuPass,
  packed: ReadonlySet<string>,
  firstWords: HalfOperands['firstWords'],
  storage: HalfStorage,
): GpuPass {
  const named = (of: Readonly<Record<string, WgslElement>>) => Object.entries(of).filter(([name]) => packed.has(name));
  const elements = new Map([...named(pass.reads), ...named(pass.writes)].map(([name, e]) => [variableName(name), e]));
  const first = new Map([...firstWords].map(([name, words]) => [variableName(name), words]));
  if (elements.size === 0) return pass;
  const written = new Set(named(pass.writes).map(([name]) => variableName(name)));
  const stored = (of: Readonly<Record<string, WgslElement>>): Record<string, WgslElement> =>
    Object.fromEntries(
      Object.entries(of).map(([name, element]) => [name, packed.has(name) ? storage.element(element) : element]),
    );
  const accessors = [...elements].map(([name, element]) =>
    storage.accessors({ name, element, written: written.has(name), firstWord: first.get(name) ?? 0 }),
  );
  return {
    ...pass,
    label: `${pass.label}, 16 bits`,
    reads: stored(pass.reads),
    writes: stored(pass.writes),
    usesHalves: pass.usesHalves === true || storage === asNumbers,
    code: `${written.size > 0 ? packFunction : ''}${accessors.join('')}${throughAccessors(pass.code, elements, written)}`,
  };
}

/** Beyond the largest number `pack2x16float` may give anything: infinity here, and for what is no number. */
const packFunction = `fn pack_half(v: vec2<f32>) -> u32 {
  let packed = pack2x16float(clamp(v, vec2<f32>(-65504f), vec2<f32>(65504f)));
  let infinite = ((bitcast<vec2<u32>>(v) >> vec2<u32>(16u)) & vec2<u32>(0x8000u)) | vec2<u32>(0x7c00u);
  let fits = abs(v) < vec2<f32>(65520f);
  return select(infinite.x, packed & 0xffffu, fits.x) | (select(infinite.y, packed >> 16u, fits.y) << 16u);
}
`;

interface Accessed {
  /** Of the variable. */
  readonly name: string;
  /** As the kernel sees it. */
  readonly element: WgslElement;
  readonly written: boolean;
  /** Where it begins in its binding. */
  readonly firstWord: number;
}

/** How operands lie in their bindings: their type there, and `half_read_NAME(i)` and `half_write_NAME(i, v)`. */
interface HalfStorage {
  readonly element: (element: WgslElement) => WgslElement;
  readonly accessors: (accessed: Accessed) => string;
}

const asNumbers: HalfStorage = {
  element: (element) => (element === 'vec4<f32>' ? 'vec4<f16>' : 'f16'),
  accessors: ({ name, element, written, firstWord }) => {
    const vectors = element === 'vec4<f32>';
    const start = vectors ? firstWord / 2 : 2 * firstWord;
    if (!Number.isInteger(start)) throw new RangeError(`${name} begins within a vector of its binding`);
    const at = start > 0 ? `${start}u + i` : 'i';
    const read = `fn half_read_${name}(i: u32) -> ${element} { return ${element}(${name}[${at}]); }
`;
    const low = 'bitcast<vec2<f16>>(pack_half(v.xy))';
    const value = vectors
      ? `vec4<f16>(${low}, bitcast<vec2<f16>>(pack_half(v.zw)))`
      : 'bitcast<vec2<f16>>(pack_half(vec2<f32>(v, 0f))).x';
    const write = `fn half_write_${name}(i: u32, v: ${element}) { ${name}[${at}] = ${value}; }
`;
    return written ? read + write : read;
  },
};

const asWords: HalfStorage = {
  element: () => 'u32',
  accessors: wordAccessors,
};

function wordAccessors({ name, element, written, firstWord }: Accessed): string {
  const from = firstWord > 0 ? `${firstWord}u + ` : '';
  if (element === 'vec4<f32>') {
    const read = `fn half_read_${name}(i: u32) -> vec4<f32> {
  return vec4<f32>(unpack2x16float(${name}[${from}2u * i]), unpack2x16float(${name}[${from}2u * i + 1u]));
}
`;
    const write = `fn half_write_${name}(i: u32, v: vec4<f32>) {
  ${name}[${from}2u * i] = pack_half(v.xy);
  ${name}[${from}2u * i + 1u] = pack_half(v.zw);
}
`;
    return written ? read + write : read;
  }
  return `fn half_read_${name}(i: u32) -> f32 {
  let pair = unpack2x16float(${name}[${from}(i >> 1u)]);
  return select(pair.x, pair.y, (i & 1u) == 1u);
}
`;
}

/** The code with `x[i]` as `half_read_x(u32(i))`, and `y[i] = v;` as `half_write_y(u32(i), v);`. */
export function throughAccessors(
  code: string,
  elements: ReadonlyMap<string, WgslElement>,
  written: ReadonlySet<string>,
): string {
  const access = new RegExp(`(?<![\\w.])(${[...elements.keys()].join('|')})\\[`, 'g');
  const again = (part: string): string => throughAccessors(part, elements, written);
  let out = '';
  let at = 0;
  for (;;) {
    access.lastIndex = at;
    const found = access.exec(code);
    if (!found) return out + code.slice(at);
    const [, name] = found;
    const open = access.lastIndex;
    const close = endOf(code, open, ']');
    const index = `u32(${again(code.slice(open, close))})`;
    out += code.slice(at, found.index);
    at = close + 1;
    const assigned = written.has(name) ? /^\s*([-+*/]?)=(?!=)/.exec(code.slice(at)) : null;
    if (!assigned) {
      out += `half_read_${name}(${index})`;
      continue;
    }
    const start = at + assigned[0].length;
    const end = endOf(code, start, ';');
    const value = again(code.slice(start, end)).trim();
    const whole = assigned[1] === '' ? value : `half_read_${name}(${index}) ${assigned[1]} (${value})`;
    out += `half_write_${name}(${index}, ${whole})`;
    at = end;
  }
}

/** Where the bracket or statement that begins before `from` ends. */
function endOf(code: string, from: number, end: ']' | ';'): number {
  let depth = 0;
  for (let i = from; i < code.length; i++) {
    if (depth === 0 && code[i] === end) return i;
    if ('[('.includes(code[i])) depth++;
    else if (')]'.includes(code[i])) depth--;
  }
  throw new RangeError(`no ${end} behind “${code.slice(from, from + 40)}”`);
}

function packPass(operand: string, count: number, limits: GpuContext['limits']): GpuPass {
  const name = variableName(operand);
  const view = scalarView(Math.ceil(count / 2), limits);
  const second =
    count % 2 === 0
      ? `${name}[2u * i + 1u]`
      : `select(0f, ${name}[min(2u * i + 1u, ${count - 1}u)], 2u * i + 1u < ${count}u)`;
  return {
    label: `pack ${operand}`,
    reads: { [operand]: 'f32' },
    writes: { [packedName(operand)]: 'u32' },
    code: elementwise(view, `${packedName(name)}[i] = pack_half(vec2<f32>(${name}[2u * i], ${second}));`, packFunction),
    workgroups: view.workgroups,
  };
}
