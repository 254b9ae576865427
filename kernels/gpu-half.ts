// Operands that are stored in 16 bits: a kernel is written once, for float32, and its accesses `x[i]` become calls that unpack and
// pack pairs of numbers (`pack2x16float`, which every adapter has). Sums stay in float32. A thread that writes vectors of four owns whole
// words; of one that writes single numbers the results go to float32 between the passes of the call, and a last pass packs them.

import type { GpuLimits, GpuPass, WgslElement } from './gpu-contract.ts';
import { elementwise, scalarView, variableName } from './gpu-wgsl.ts';

/** Name of the words of an operand whose passes write it as float32. */
export const packedName = (operand: string): string => `${operand}_packed`;

/** Those of the operands `halves` that a pass writes number by number. */
export function writtenSingly(passes: readonly GpuPass[], halves: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...halves].filter((operand) => passes.some(({ writes }) => writes[operand] === 'f32')));
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
  limits: GpuLimits,
): readonly GpuPass[] {
  const shifted = [...single].find((operand) => firstWords.has(operand));
  if (shifted !== undefined) throw new RangeError(`${shifted} is packed as a whole, and begins within its binding`);
  const packed = new Set([...sizes.keys()].filter((operand) => !single.has(operand)));
  const rewritten = passes.map((pass) => readAndWriteWords(pass, packed, firstWords));
  return [...rewritten, ...[...single].map((operand) => packPass(operand, sizes.get(operand)!, limits))];
}

function readAndWriteWords(
  pass: GpuPass,
  packed: ReadonlySet<string>,
  firstWords: HalfOperands['firstWords'],
): GpuPass {
  const named = (of: Readonly<Record<string, WgslElement>>) => Object.entries(of).filter(([name]) => packed.has(name));
  const elements = new Map([...named(pass.reads), ...named(pass.writes)].map(([name, e]) => [variableName(name), e]));
  const first = new Map([...firstWords].map(([name, words]) => [variableName(name), words]));
  if (elements.size === 0) return pass;
  const written = new Set(named(pass.writes).map(([name]) => variableName(name)));
  const words = (of: Readonly<Record<string, WgslElement>>): Record<string, WgslElement> =>
    Object.fromEntries(Object.entries(of).map(([name, element]) => [name, packed.has(name) ? 'u32' : element]));
  const accessors = [...elements].map(([name, element]) =>
    accessorsOf(name, element, written.has(name), first.get(name)),
  );
  return {
    ...pass,
    label: `${pass.label}, 16 bits`,
    reads: words(pass.reads),
    writes: words(pass.writes),
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

function accessorsOf(name: string, element: WgslElement, written: boolean, first = 0): string {
  const from = first > 0 ? `${first}u + ` : '';
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

function packPass(operand: string, count: number, limits: GpuLimits): GpuPass {
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
