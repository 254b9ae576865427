// What the model file of an ensemble holds besides its settings: its members, each with the model files of its folds, and how rows are
// made for them.

import { z } from 'zod';
import { readsTexts } from '../../model/spec.ts';
import type { ModelFile } from '../../protocol/model-file.ts';
import type { AutoSettings } from './declaration.ts';

export interface MemberFile {
  /** What it is called. */
  readonly title: string;
  readonly learner: string;
  /** Shares of all members add up to 1. */
  readonly weight: number;
  /** `model.json` of the model of each fold, all of them weighing the same. Their tensors are named `MEMBER.FOLD.…`, from 0. */
  readonly models: readonly object[];
  /** The fold of each, where some came to nothing; absent: the first one is of fold 1, and so on. */
  readonly folds?: readonly number[];
  /** The preprocessing that each was fitted with, of a cross-validation; absent: all learned from the same columns, see `recipe`. */
  readonly recipes?: readonly object[];
}

/** The folds that a member has models of. */
export const foldsOfMember = ({ models, folds }: MemberFile): readonly number[] =>
  folds ?? models.map((_, at) => at + 1);

/** What a file is the mean of, if it is of a cross-validation. */
export function crossedMember(file: ModelFile & Partial<Pick<AutoModelFile, 'members'>>): MemberFile | undefined {
  return file.members?.find(({ recipes }) => recipes !== undefined);
}

/** Whether it is the mean of folds that cut texts into tokens each in its own way: what leaves as one graph has no place for them. */
export const cutsTextsApart = (file: ModelFile): boolean => readsTexts(file.input) && crossedMember(file) !== undefined;

export interface AutoModelFile extends ModelFile {
  readonly learner: 'auto';
  readonly auto: AutoSettings;
  readonly seed: number;
  /** The preprocessing of the members that take scaled rows. */
  readonly recipe: object;
  readonly members: readonly MemberFile[];
}

const member = z.strictObject({
  title: z.string(),
  learner: z.string(),
  weight: z.number().min(0).max(1),
  models: z.array(z.looseObject({})).min(1),
  folds: z.array(z.int().min(1)).optional(),
  recipes: z.array(z.looseObject({})).optional(),
});

export const file = {
  seed: z.int().min(0),
  recipe: z.looseObject({}),
  members: z.array(member).min(1),
};
