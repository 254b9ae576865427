// The members that are done, as a checkpoint: a line of JSON that says what lies where, then the bytes. A run that was killed goes on with
// the member that was at work.

import { TrainyardError } from '../../protocol/errors.ts';
import type { LeftOutModel } from '../../protocol/leaderboard.ts';
import { decodeText, encodeText } from '../../train/safetensors.ts';
import type { Member } from './member.ts';

const format = 'trainyard-auto-1';

export interface AutoState {
  readonly members: readonly Member[];
  readonly leftOut: readonly LeftOutModel[];
  /** Candidates gone through. */
  readonly next: number;
  /** Spent so far. */
  readonly seconds: number;
}

type Place = readonly [start: number, end: number];

interface Header extends Omit<AutoState, 'members'> {
  readonly format: typeof format;
  readonly members: readonly (Omit<Member, 'models' | 'outOfFold' | 'test'> & {
    readonly models: readonly { readonly part: number; readonly model: Place; readonly weights: Place }[];
    readonly outOfFold: Place;
    readonly test: Place;
  })[];
}

/** Bytes that say how long the header is. */
const prefix = 8;

export function encodeState(state: AutoState): Uint8Array {
  const blobs: Uint8Array[] = [];
  let end = 0;
  const lay = (bytes: Uint8Array): Place => {
    blobs.push(bytes);
    const start = end;
    end += bytes.byteLength;
    return [start, end];
  };
  const bytesOf = (values: Float64Array): Uint8Array =>
    new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const members = state.members.map(({ models, outOfFold, test, ...rest }) => ({
    ...rest,
    models: models.map(({ part, model, weights }) => ({ part, model: lay(model), weights: lay(weights) })),
    outOfFold: lay(bytesOf(outOfFold)),
    test: lay(bytesOf(test)),
  }));
  const header = encodeText(JSON.stringify({ format, ...state, members } satisfies Header));
  const file = new Uint8Array(prefix + header.byteLength + end);
  new DataView(file.buffer).setFloat64(0, header.byteLength, true);
  file.set(header, prefix);
  let at = prefix + header.byteLength;
  for (const blob of blobs) {
    file.set(blob, at);
    at += blob.byteLength;
  }
  return file;
}

/** Throws TrainyardError `run.checkpoint` when the file is none, or a damaged one. */
export function decodeState(file: Uint8Array): AutoState {
  const { header, start } = headerOf(file);
  const at = ([from, to]: Place): Uint8Array => file.slice(start + from, start + to);
  const numbers = (place: Place): Float64Array => new Float64Array(at(place).buffer);
  return {
    ...header,
    members: header.members.map(({ models, outOfFold, test, ...rest }) => ({
      ...rest,
      models: models.map(({ part, model, weights }) => ({ part, model: at(model), weights: at(weights) })),
      outOfFold: numbers(outOfFold),
      test: numbers(test),
    })),
  };
}

/** Throws like `decodeState`. */
export function checkState(file: Uint8Array): void {
  headerOf(file);
}

function headerOf(file: Uint8Array): { readonly header: Header; readonly start: number } {
  const length = file.byteLength >= prefix ? new DataView(file.buffer, file.byteOffset).getFloat64(0, true) : NaN;
  const start = prefix + length;
  let found: unknown = null;
  if (start <= file.byteLength) {
    try {
      found = JSON.parse(decodeText(file.subarray(prefix, start)));
    } catch {
      // As below.
    }
  }
  if (isHeader(found) && lastOf(found) === file.byteLength - start) return { header: found, start };
  throw new TrainyardError(
    'run.checkpoint',
    'The checkpoint is damaged: it does not say which models there were.',
    'Start the run again from its settings.',
  );
}

const isHeader = (found: unknown): found is Header =>
  typeof found === 'object' && found !== null && (found as Partial<Header>).format === format;

/** Where the last of its bytes ends. */
const lastOf = ({ members }: Header): number => members.at(-1)?.test[1] ?? 0;
