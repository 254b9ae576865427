// What makes tokens of texts outside: the tokenizers of a run as files, and a module of Python that reads texts by them as the run does. It lies
// beside an ONNX model and in a project of PyTorch. The package `tokenizers` reads those of Hugging Face's form; words and characters are functions.

import { parsePreprocessing, textFeatures, type Preprocessing, type TextRecipe } from '../../data/preprocess/recipe.ts';
import type { ExportedFile } from '../../protocol/exports.ts';
import { predictsTokens, readsTexts } from '../../model/spec.ts';
import { tokenizerOf } from '../../text/tokenizers.ts';
import { utf8 } from '../onnx/proto.ts';
import type { OpenedRun } from '../opened.ts';
import { functions, source } from './tokens-source.ts';
import { writingSource } from './writing-source.ts';

/** Kinds that are a function of Python; every other is a tokenizer.json of Hugging Face. */
type Own = keyof typeof functions;

const isOwn = (kind: unknown): kind is Own => typeof kind === 'string' && Object.hasOwn(functions, kind);

function ownKind({ tokenizer }: TextRecipe): Own | null {
  const kind = (tokenizer as { readonly kind?: unknown }).kind;
  return isOwn(kind) ? kind : null;
}

/**
 * What makes tokens of the texts that a run's model reads, behind `prefix`; none where it reads none. Of a language model what writes by it: `onnx` is its
 * file, absent: `model.py`.
 */
export function tokenFilesOf(
  { file, recipe }: Pick<OpenedRun, 'file' | 'recipe'>,
  prefix: string,
  onnx?: string,
): readonly ExportedFile[] {
  if (!readsTexts(file.input)) return [];
  const read = parsePreprocessing(recipe);
  return predictsTokens(file.input) ? writingFiles(read, prefix, onnx) : tokenFiles(read, prefix);
}

/** The tokenizer and `write.py`. */
function writingFiles(recipe: Preprocessing, prefix: string, onnx?: string): readonly ExportedFile[] {
  const [{ tokenizer, length, column }] = textFeatures(recipe);
  const [file] = tokenizerNames(recipe, prefix);
  const { kind, special } = tokenizerOf(tokenizer);
  const written = writingSource({
    ...{ file, length, characters: kind === 'characters', unknown: special.unknown ?? null },
    onnx: onnx === undefined ? null : { file: onnx, input: column },
  });
  return [
    { path: file, data: utf8(`${JSON.stringify(tokenizer)}\n`) },
    { path: `${prefix}write.py`, data: utf8(written) },
  ];
}

/** Names of the tokenizers' files, one a text: `tokenizer.json`, behind `prefix`; of several texts they are numbered. */
function tokenizerNames(recipe: Preprocessing, prefix: string): readonly string[] {
  const texts = textFeatures(recipe);
  return texts.map((_, at) => `${prefix}tokenizer${texts.length > 1 ? `-${at + 1}` : ''}.json`);
}

/** Whether Python needs the package `tokenizers`. */
const needsTokenizers = (recipe: Preprocessing): boolean =>
  textFeatures(recipe).some((feature) => ownKind(feature) === null);

/** The tokenizers and `tokens.py`, each behind `prefix`. */
export function tokenFiles(recipe: Preprocessing, prefix: string): readonly ExportedFile[] {
  const texts = textFeatures(recipe);
  const names = tokenizerNames(recipe, prefix);
  const described = texts.map((feature, at) => ({
    column: feature.column,
    file: names[at],
    kind: ownKind(feature) ?? 'file',
    missing: feature.missing,
    exact: feature.exact === true,
    characters: feature.characters,
    length: feature.length,
    end: feature.keepsEnd === true,
  }));
  const kinds = [...new Set(texts.map(ownKind))].filter((kind) => kind !== null);
  return [
    ...texts.map(({ tokenizer }, at) => ({ path: names[at], data: utf8(`${JSON.stringify(tokenizer)}\n`) })),
    { path: `${prefix}tokens.py`, data: utf8(source(described, kinds, needsTokenizers(recipe))) },
  ];
}
