// What Help says of settings: the words of their tables (engine/settings and the learners' declarations), never written twice.

import { declarations } from '../../../engine/learners/declared/registry.ts';
import { augmentationFields } from '../../../engine/settings/augmentation.ts';
import { textFields } from '../../../engine/settings/dataset.ts';
import { electricityFields } from '../../../engine/settings/electricity.ts';
import type { Field, FieldTable } from '../../../engine/settings/field.ts';
import { generationFields } from '../../../engine/settings/generation.ts';
import { readingFields } from '../../../engine/settings/reading.ts';
import { runFields } from '../../../engine/settings/run.ts';
import { trainingFields } from '../../../engine/settings/training.ts';
import { choicesOf, fieldsOf, rangeWords } from '../../../engine/settings/values.ts';
import { asEnglish, fixed, sentence } from '../../lib/format.ts';
import { ownValue } from '../../../engine/protocol/own.ts';

/** Tables that a page may name, by the name it uses. */
const tables = {
  reading: readingFields,
  texts: textFields,
  run: runFields,
  training: trainingFields,
  augmentation: augmentationFields,
  generation: generationFields,
  electricity: electricityFields,
} as unknown as Readonly<Record<string, FieldTable>>;

export interface SettingWords {
  readonly label: string;
  readonly help: string;
  /** What it may be: “0 to 1”, “AdamW, Adam, SGD”. */
  readonly limits: string;
}

export interface SettingGroup {
  /** Null where the page's own heading says it. */
  readonly title: string | null;
  readonly settings: readonly SettingWords[];
}

/** Undefined: there is no table of that name. `learners`: one group for each learner with settings of its own. */
export function settingGroups(table: string): readonly SettingGroup[] | undefined {
  if (table === 'learners') {
    return declarations
      .filter(({ layers }) => !layers)
      .map(({ title, fields }) => ({ title, settings: wordsOf(fields as FieldTable) }))
      .filter(({ settings }) => settings.length > 0);
  }
  const fields = ownValue(tables, table);
  return fields && [{ title: null, settings: wordsOf(fields) }];
}

/** What the form calls `training.epochs`; undefined: there is no such setting. */
export function settingLabel(name: string): string | undefined {
  const dot = name.indexOf('.');
  const fields = ownValue(tables, name.slice(0, dot));
  return fields && ownValue(fields, name.slice(dot + 1))?.label;
}

function wordsOf(fields: FieldTable): SettingWords[] {
  return fieldsOf(fields).map(([, field]) => ({
    label: field.label,
    help: sentence(field.help),
    limits: asEnglish(() => limitsOf(field)),
  }));
}

/** 1000000 → 1,000,000, where it is no name. */
const grouped = (words: string, ungrouped = false): string =>
  ungrouped ? words : words.replace(/\d{4,}/g, (digits) => fixed(Number(digits)));

function limitsOf(field: Field): string {
  switch (field.kind) {
    case 'number':
      return grouped(rangeWords(field), field.ungrouped) + (field.zero === undefined ? '' : `; 0: ${field.zero}`);
    case 'choice':
      return choicesOf(field)
        .map(({ label }) => label)
        .join(', ');
    case 'switch':
      return field.words?.join(', ') ?? 'on or off';
    case 'text':
      return field.offered ? Object.values(field.offered).join(', ') : 'words';
    default:
      return field satisfies never;
  }
}
