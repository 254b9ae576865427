// Checks of settings that come from outside, made from their tables: strict for requests, with everything there and within its
// limits; `stored` for what an earlier version may have written.

import { z } from 'zod';
import type { Field, FieldTable, SettingsOf, ValueOf } from './field.ts';
import { fieldsOf } from './values.ts';

/** Settings of a table, and of further ones that may be left out as a whole. */
type With<T, More> = SettingsOf<T> & { readonly [Name in keyof More]?: SettingsOf<More[Name]> };

/** Exactly the table's settings, each within its limits; `more`: groups of settings that may be left out, each a table. */
export function schemaOf<
  const T extends FieldTable,
  const More extends Readonly<Record<string, FieldTable>> = Readonly<Record<never, never>>,
>(table: T, more?: More): z.ZodType<With<T, More>> {
  const others = Object.entries<FieldTable>(more ?? {}).map(([name, other]) => [name, schemaOf(other).optional()]);
  return z.strictObject({
    ...shapeOf(table, fieldSchema, z.strictObject),
    ...Object.fromEntries(others),
  }) as unknown as z.ZodType<With<T, More>>;
}

/** The checks of a table's settings one by one, for settings that stand among others. */
export function fieldSchemas<const T extends FieldTable>(
  table: T,
): { readonly [Name in keyof T]: z.ZodType<ValueOf<T[Name]>> } {
  return Object.fromEntries(fieldsOf(table).map(([name, field]) => [name, fieldSchema(field)])) as unknown as {
    readonly [Name in keyof T]: z.ZodType<ValueOf<T[Name]>>;
  };
}

/** An object from any words, such as names of columns, to values; zod's own record drops the word `__proto__`. */
export function wordsTo<V>(value: z.ZodType<V>): z.ZodType<Readonly<Record<string, V>>> {
  return z.unknown().transform((words, context) => {
    if (typeof words !== 'object' || words === null || Array.isArray(words)) {
      context.addIssue({ code: 'custom', message: 'expected an object' });
      return z.NEVER;
    }
    return Object.fromEntries(
      Object.entries(words).map(([word, given]) => {
        const parsed = value.safeParse(given);
        if (parsed.success) return [word, parsed.data];
        parsed.error.issues.forEach(({ message, path }) =>
          context.addIssue({ code: 'custom', message, path: [word, ...path] }),
        );
        return [word, z.NEVER];
      }),
    );
  }) as unknown as z.ZodType<Readonly<Record<string, V>>>;
}

/** What an earlier version may have written: settings may be missing or unknown, and limits are those it had. */
export function storedSchemaOf(table: FieldTable): z.ZodType {
  return z.looseObject(shapeOf(table, (field) => storedFieldSchema(field).optional(), z.looseObject));
}

type Shape = Record<string, z.ZodType>;

/** The members of an object: plain settings, and an object a group. */
function shapeOf(table: FieldTable, schema: (field: Field) => z.ZodType, object: (shape: Shape) => z.ZodType): Shape {
  const shape: Shape = {};
  const groups = new Map<string, Shape>();
  for (const [name, field] of fieldsOf(table)) {
    const [first, second] = name.split('.');
    if (second === undefined) shape[first] = schema(field);
    else groups.set(first, { ...groups.get(first), [second]: schema(field) });
  }
  for (const [name, members] of groups) {
    const free = Object.values(members).every((member) => member.safeParse(undefined).success);
    shape[name] = free ? object(members).optional() : object(members);
  }
  return shape;
}

function fieldSchema(field: Field): z.ZodType {
  const schema = limited(field);
  return field.default === undefined ? schema.optional() : schema;
}

function limited(field: Field): z.ZodType {
  switch (field.kind) {
    case 'number':
      return (field.whole ? z.int() : z.number()).min(field.minimum).max(field.maximum);
    case 'switch':
      return z.boolean();
    case 'choice':
      return z.enum(Object.keys(field.choices));
    case 'text':
      return z.string().min(1).max(field.longest);
  }
}

function storedFieldSchema(field: Field): z.ZodType {
  return field.kind === 'number' ? z.number() : field.kind === 'text' ? z.string() : limited(field);
}
