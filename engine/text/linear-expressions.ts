// Whether a foreign regular expression takes time that grows with a text, not with its square or worse: V8 tries again and again what could have
// matched otherwise, and nothing can end it. Known is what the expressions of tokenizers are made of: branches of a few parts, each
// repeated at most. In a branch no more than one unlimited repetition may stand before the last part that can fail, and what it has to
// give back, as the spaces of `\s*[\r\n]+`, a later branch takes at once (`\s+`).

/** A piece of a branch. */
interface Part {
  /** As it is written, without its repetition. */
  readonly atom: string;
  /** Of a part that looks only, 1 and 1. */
  readonly least: number;
  readonly most: number;
  /** Ways in which it can match at a place, its repetitions aside. */
  readonly ways: number;
}

type Branch = readonly Part[];

/** Repetitions from which on they count as unlimited, and ways to match that are tried at a place. */
const mostRepeated = 32;
const mostWays = 64;
const longest = 2000;

/** `source` is valid with the flag `u`. False, too, for what is not known here: back references, lazy repetitions, repeated groups. */
export function takesLinearTime(source: string): boolean {
  const branches = source.length > longest ? null : new Reader(source).all();
  return branches !== null && branches.every((_, at) => isLinear(branches, at));
}

const isUnlimited = ({ most }: Part): boolean => most > mostRepeated;
const lastToFail = (branch: Branch): number => branch.findLastIndex(({ least }) => least > 0);
const runsOver = (branch: Branch, atom: string): boolean =>
  branch.some((part) => isUnlimited(part) && part.atom === atom);

function isLinear(branches: readonly Branch[], at: number): boolean {
  const branch = branches[at];
  const before = branch.slice(0, Math.max(0, lastToFail(branch)));
  const ways = before.reduce(
    (all, part) => all * (isUnlimited(part) ? 1 : part.ways * (part.most - part.least + 1)),
    1,
  );
  const unlimited = before.filter(isUnlimited);
  if (ways > mostWays || unlimited.length > 1 || branch.some(({ least }) => least > mostRepeated)) return false;
  if (unlimited.length === 0) return true;
  const [{ atom }] = unlimited;
  const later = branches.slice(at + 1);
  const taken = later.findIndex((one) => takesAll(one, atom));
  return taken >= 0 && later.slice(0, taken).every((one) => runsOver(one, atom));
}

/** Whether a branch matches wherever there is one of these, and takes all that follow. */
function takesAll(branch: Branch, atom: string): boolean {
  const last = lastToFail(branch);
  return (
    last >= 0 &&
    isUnlimited(branch[last]) &&
    branch[last].atom === atom &&
    branch[last].least === 1 &&
    branch.slice(0, last).every(({ least }) => least === 0)
  );
}

const atoms =
  /\[(?:[^\\\]]|\\.)*\]|\\[pPu]\{[^}]*\}|\\u(?:[0-9a-fA-F]{4}|\{[^}]*\})|\\x[0-9a-fA-F]{2}|\\[^1-9kpPux]|[^\\[\](){}*+?|]/suy;
const repetitions = /[*+?]|\{(\d+)(,(\d*))?\}/uy;
const groups = /\((?:\?(?:[ims]*(?:-[ims]+)?:|<?[=!]))?/uy;

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** The branches of the whole; null: something that is not known. */
  all(): readonly Branch[] | null {
    const branches = this.#branches();
    return this.#at === this.#source.length ? branches : null;
  }

  #take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#source);
    if (found) this.#at = expression.lastIndex;
    return found;
  }

  #takes(sign: string): boolean {
    if (this.#source[this.#at] !== sign) return false;
    this.#at++;
    return true;
  }

  #branches(): readonly Branch[] | null {
    const branches: Branch[] = [];
    do {
      const branch: Part[] = [];
      while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at])) {
        const part = this.#part();
        if (part === null) return null;
        branch.push(part);
      }
      branches.push(branch);
    } while (this.#takes('|'));
    return branches;
  }

  #part(): Part | null {
    const group = this.#take(groups);
    const own = group ? this.#group() : this.#atom();
    if (own === null) return null;
    const [least, most] = this.#repetition();
    // A group is left out at most, and nothing gives back from the front of what it has.
    if (this.#takes('?') || (group && most > 1)) return null;
    return { ...own, least: Math.min(own.least, least), most };
  }

  #atom(): Pick<Part, 'atom' | 'ways' | 'least'> | null {
    const found = this.#take(atoms);
    return found && { atom: found[0], ways: 1, least: 1 };
  }

  /** Without unlimited repetitions: what it has, one after the other and one beside the other, are ways to match. */
  #group(): Pick<Part, 'atom' | 'ways' | 'least'> | null {
    const from = this.#at;
    const branches = this.#branches();
    if (branches === null || !this.#takes(')') || branches.flat().some(isUnlimited)) return null;
    const ways = branches.map((branch) =>
      branch.reduce((all, { ways: own, least, most }) => all * own * (most - least + 1), 1),
    );
    const atom = `(${this.#source.slice(from, this.#at)}`;
    const all = ways.reduce((sum, one) => sum + one, 0);
    return all > mostWays ? null : { atom, ways: all, least: 1 };
  }

  #repetition(): readonly [least: number, most: number] {
    const found = this.#take(repetitions);
    if (found === null) return [1, 1];
    const [sign, least, comma, most] = found;
    if (sign === '?') return [0, 1];
    if (sign === '*' || sign === '+') return [sign === '*' ? 0 : 1, Infinity];
    return [Number(least), comma === undefined ? Number(least) : most === '' ? Infinity : Number(most)];
  }
}
