// What a linear model's search knows, as a checkpoint and as the files of a trained model.

import { TrainyardError } from '../../protocol/errors.ts';
import { checkSafetensors, decodeSafetensors, encodeSafetensors } from '../../train/safetensors.ts';
import type { Weights } from '../../train/weights.ts';
import type { LinearWeights, Search, Tried } from './path.ts';

const format = 'trainyard-linear-1';

interface SearchState {
  readonly tried: readonly Tried[];
  readonly chosen: number;
  /** Spent so far. */
  readonly seconds: number;
}

/** Weights are [in, out], as those of networks. */
export function tensorsOf({ weight, bias }: LinearWeights): Weights {
  const K = bias.length;
  return {
    'output.weight': { shape: [weight.length / K, K], data: weight },
    'output.bias': { shape: [K], data: bias },
  };
}

export function encodeSearch({ tried, chosen, best }: Search, seconds: number): Uint8Array {
  const state: SearchState = { tried, chosen, seconds };
  return encodeSafetensors({ tensors: tensorsOf(best), metadata: { format, state: JSON.stringify(state) } });
}

/** Throws TrainyardError `run.checkpoint` or `data.safetensors` when the file is none, or a damaged one. */
export function decodeSearch(file: Uint8Array): { readonly search: Search; readonly seconds: number } {
  const { tensors, metadata } = decodeSafetensors(file);
  const { tried, chosen, seconds } = stateOf(metadata);
  const [weight, bias] = [tensors['output.weight'], tensors['output.bias']];
  if (weight === undefined || bias === undefined) throw damaged();
  return { search: { tried, chosen, best: { weight: weight.data, bias: bias.data } }, seconds };
}

/** Throws like `decodeSearch`, without taking the memory for its tensors. */
export function checkSearch(file: Uint8Array): void {
  stateOf(checkSafetensors(file));
}

function stateOf(metadata: Readonly<Record<string, string>>): SearchState {
  let state: unknown = null;
  try {
    state = metadata.format === format ? JSON.parse(metadata.state ?? '') : null;
  } catch {
    // As below.
  }
  if (isState(state)) return state;
  throw damaged();
}

function isState(value: unknown): value is SearchState {
  if (typeof value !== 'object' || value === null) return false;
  const { tried, chosen, seconds } = value as Readonly<Record<keyof SearchState, unknown>>;
  return (
    Array.isArray(tried) &&
    tried.every(
      (one: Tried | null) =>
        typeof one === 'object' &&
        one !== null &&
        (one.exponent === null || Number.isInteger(one.exponent)) &&
        Number.isFinite(one.loss),
    ) &&
    Number.isInteger(chosen) &&
    (chosen as number) >= -1 &&
    (chosen as number) < tried.length &&
    Number.isFinite(seconds)
  );
}

function damaged(): TrainyardError {
  return new TrainyardError(
    'run.checkpoint',
    'The checkpoint is damaged: it does not say where the search was.',
    'Start the run again from its settings.',
  );
}
