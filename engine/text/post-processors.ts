// Post-processors of a tokenizer.json: which tokens stand in front of a text and behind it.

import { z } from 'zod';
import { InputError } from '../protocol/errors.ts';
import { kindOf, savedAs, unsupported } from './saved.ts';

/** Ids round those of a text. */
export interface Frame {
  readonly before: readonly number[];
  readonly behind: readonly number[];
}

const none: Frame = { before: [], behind: [] };
const named = z.tuple([z.string(), z.number().int()]);
const pair = z.object({ sep: named, cls: named });
const template = z.object({
  single: z.array(
    z.union([
      z.object({ SpecialToken: z.object({ id: z.string() }) }),
      z.object({ Sequence: z.object({ id: z.string() }) }),
    ]),
  ),
  special_tokens: z.record(z.string(), z.object({ ids: z.array(z.number().int()) })),
});
const sequence = z.object({ processors: z.array(z.unknown()) });

/** What the post-processor of a tokenizer.json stands for. Throws InputError where it is not supported. */
export function frameOf(json: unknown): Frame {
  if (json === null || json === undefined) return none;
  const what = 'post-processor';
  const kind = kindOf(json, what);
  switch (kind) {
    case 'ByteLevel':
      return none;
    case 'BertProcessing':
    case 'RobertaProcessing': {
      const { sep, cls } = savedAs(pair, json, what);
      return { before: [cls[1]], behind: [sep[1]] };
    }
    case 'TemplateProcessing':
      return frameOfTemplate(savedAs(template, json, what));
    case 'Sequence':
      return savedAs(sequence, json, what)
        .processors.map(frameOf)
        .reduce(
          (inner, { before, behind }) => ({
            before: [...before, ...inner.before],
            behind: [...inner.behind, ...behind],
          }),
          none,
        );
    default:
      throw unsupported(what, kind);
  }
}

function frameOfTemplate({ single, special_tokens: special }: z.infer<typeof template>): Frame {
  const text = single.findIndex((piece) => 'Sequence' in piece);
  if (text < 0) throw unsupported('template', 'without the text');
  const ids = (from: number, to: number): readonly number[] =>
    single.slice(from, to).flatMap((piece) => {
      if ('Sequence' in piece) throw unsupported('template', 'with the text twice');
      const found = special[piece.SpecialToken.id];
      if (found) return found.ids;
      throw new InputError(
        'input.tokenizer',
        `The template of the tokenizer names “${piece.SpecialToken.id}”, which it does not explain.`,
      );
    });
  return { before: ids(0, text), behind: ids(text + 1, single.length) };
}
