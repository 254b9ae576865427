// The two languages of the server: plain JSON rows, and the open inference protocol (version 2), in which each column is a tensor
// of N values. Both become rows as objects.

import { z } from 'zod';
import type { RowObject } from '../data/preprocess/one-row.ts';
import type { FeatureRecipe } from '../data/preprocess/recipe.ts';
import type { OutputSpec } from '../model/spec.ts';
import { InputError } from '../protocol/errors.ts';
import type { RowAnswers } from '../protocol/serving.ts';

/** Rows of one request. */
export const largestRows = 10_000;

const value = z.union([z.string(), z.number(), z.boolean(), z.null()]);

const tensor = z.looseObject({
  name: z.string(),
  shape: z.array(z.int().min(0)).min(1).max(2),
  datatype: z.enum([
    'BOOL',
    'UINT8',
    'UINT16',
    'UINT32',
    'UINT64',
    'INT8',
    'INT16',
    'INT32',
    'INT64',
    'FP16',
    'FP32',
    'FP64',
    'BYTES',
  ]),
  // In nested form, too, as the protocol has it: [[1], [2]] of the shape [2, 1].
  data: z.array(z.union([value, z.tuple([value])])).transform((cells) => cells.flat()),
});

const inferRequest = z.looseObject({
  id: z.string().optional(),
  inputs: z.array(tensor).min(1),
  outputs: z.array(z.looseObject({ name: z.string() })).optional(),
});

export type InferRequest = z.infer<typeof inferRequest>;

/** `POST /predict`: one row, a list of rows, or `{"rows": […]}`. Throws InputError `input.request`. */
export function parseRows(body: unknown): readonly RowObject[] {
  const isObject = (one: unknown): one is RowObject => typeof one === 'object' && one !== null && !Array.isArray(one);
  const given = isObject(body) && Object.keys(body).length === 1 && Array.isArray(body['rows']) ? body['rows'] : body;
  const rows: readonly unknown[] = Array.isArray(given) ? given : [given];
  const wrong = rows.findIndex((row) => !isObject(row));
  if (wrong >= 0) {
    throw invalid(`Row ${wrong + 1} is no object.`, 'A row is {"column": value, …}; several stand in a list.');
  }
  checkCount(rows.length);
  return rows as readonly RowObject[];
}

/** `POST /v2/models/NAME/infer`. Throws InputError `input.request` naming the tensor. */
export function parseInfer(body: unknown): { readonly request: InferRequest; readonly rows: readonly RowObject[] } {
  const parsed = inferRequest.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(
      `${issue.path.join('.') || 'The request'}: ${issue.message}.`,
      'See GET /v2/models/NAME for its tensors.',
    );
  }
  const { inputs } = parsed.data;
  const [count] = inputs[0].shape;
  checkCount(count);
  for (const { name, shape, data } of inputs) {
    const sized = shape[0] === count && (shape[1] ?? 1) === 1 && data.length === count;
    if (sized) continue;
    throw invalid(
      `The tensor "${name}" has the shape [${shape.join(', ')}] and ${data.length} values; [${count}] and ${count} were expected.`,
      'Every column is a tensor of one value a row.',
    );
  }
  for (const [index, { name, datatype, data }] of inputs.entries()) {
    if (inputs.findIndex((other) => other.name === name) < index) {
      throw invalid(`The tensor "${name}" is there twice.`, 'Send each column once.');
    }
    const wrong = data.findIndex((cell) => cell !== null && !fits(datatype, cell));
    if (wrong < 0) continue;
    throw invalid(
      `The tensor "${name}" is of ${datatype}, and value ${wrong + 1} is ${JSON.stringify(data[wrong])}.`,
      'Send texts as BYTES; null stands for a missing value.',
    );
  }
  const rows = Array.from({ length: count }, (_, row) =>
    Object.fromEntries(inputs.map(({ name, data }) => [name, data[row]])),
  );
  return { request: parsed.data, rows };
}

/** Whether a value is one of the type that its tensor has; of BOOL 0 and 1 are too. */
function fits(datatype: z.infer<typeof tensor>['datatype'], cell: string | number | boolean): boolean {
  if (datatype === 'BYTES') return typeof cell === 'string';
  if (datatype === 'BOOL') return typeof cell === 'boolean' || cell === 0 || cell === 1;
  return typeof cell === 'number' && (datatype.startsWith('FP') || Number.isInteger(cell));
}

function checkCount(rows: number): void {
  if (rows <= largestRows) return;
  throw invalid(
    `${rows} rows are too many for one request.`,
    `Send ${largestRows} at most, or use \`trainyard predict\`.`,
  );
}

function invalid(message: string, hint: string): InputError {
  return new InputError('input.request', message, hint);
}

/** The answers in plain JSON, with what looks wrong about the rows together. */
export function plainAnswers(output: OutputSpec, { values, probabilities, reasons, warnings }: RowAnswers): object {
  const predictions = values.map((found, row) => ({
    prediction: output.kind === 'classes' ? output.classes[found] : found,
    ...(output.kind === 'classes'
      ? { probabilities: Object.fromEntries(output.classes.map((name, k) => [name, probabilities?.[row]?.[k] ?? 0])) }
      : {}),
    ...(reasons[row].length > 0 ? { reasons: reasons[row] } : {}),
  }));
  return { predictions, ...(warnings.length > 0 ? { warnings } : {}) };
}

/**
 * The answer of the open inference protocol; `outputs` of the request choose among the tensors. What of a row could not be used stands in the
 * tensor `reasons` (empty: nothing), and a parameter counts such rows whatever was chosen; another says what looks wrong about all rows.
 */
export function inferAnswer(
  model: string,
  output: OutputSpec,
  { id, outputs }: InferRequest,
  { values, probabilities, reasons, warnings }: RowAnswers,
): object {
  const wanted = outputs && new Set(outputs.map(({ name }) => name));
  const doubtful = reasons.filter((told) => told.length > 0).length;
  const tensors = describeOutputs(output).map(({ name, datatype }) => {
    if (name === 'reasons') {
      return { name, datatype, shape: [values.length], data: reasons.map((told) => told.join('; ')) };
    }
    if (name === 'probabilities') {
      const classes = output.kind === 'classes' ? output.classes.length : 0;
      return { name, datatype, shape: [values.length, classes], data: (probabilities ?? []).flat() };
    }
    const data = output.kind === 'classes' ? values.map((found) => output.classes[found]) : values;
    return { name, datatype, shape: [values.length], data };
  });
  return {
    model_name: model,
    model_version: '1',
    ...(id === undefined ? {} : { id }),
    ...(doubtful > 0 || warnings.length > 0
      ? {
          parameters: {
            ...(doubtful > 0 ? { rows_with_reasons: doubtful } : {}),
            ...(warnings.length > 0 ? { warnings: warnings.join(' ') } : {}),
          },
        }
      : {}),
    outputs: tensors.filter(({ name }) => wanted?.has(name) ?? true),
  };
}

/** Before anything is predicted. Throws InputError for an output there is not. */
export function checkOutputs(output: OutputSpec, outputs: InferRequest['outputs']): void {
  const names = describeOutputs(output).map(({ name }) => name);
  const unknown = outputs?.find(({ name }) => !names.includes(name));
  if (unknown === undefined) return;
  throw invalid(`There is no output "${unknown.name}".`, `There are ${names.join(', ')}.`);
}

/** `GET /v2/models/NAME` */
export function describeModel(model: string, features: readonly FeatureRecipe[], output: OutputSpec): object {
  return {
    name: model,
    versions: ['1'],
    platform: 'trainyard',
    inputs: features.map(({ column, kind }) => ({ name: column, datatype: datatypeOf(kind), shape: [-1] })),
    outputs: describeOutputs(output),
    ...(output.kind === 'classes' ? { parameters: { classes: output.classes } } : {}),
  };
}

function describeOutputs(output: OutputSpec): readonly { name: string; datatype: string; shape: readonly number[] }[] {
  const reasons = { name: 'reasons', datatype: 'BYTES', shape: [-1] };
  if (output.kind === 'value') return [{ name: 'prediction', datatype: 'FP64', shape: [-1] }, reasons];
  return [
    { name: 'prediction', datatype: 'BYTES', shape: [-1] },
    { name: 'probabilities', datatype: 'FP64', shape: [-1, output.classes.length] },
    reasons,
  ];
}

function datatypeOf(kind: FeatureRecipe['kind']): string {
  if (kind === 'number') return 'FP64';
  return kind === 'boolean' ? 'BOOL' : 'BYTES';
}
