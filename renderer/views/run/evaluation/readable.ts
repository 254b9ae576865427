// An evaluation as it is read: the names of classes and columns with everything that cannot be seen written out.

import type { EvaluatedRun } from '../../../../engine/protocol/evaluated-rows.ts';
import { visible } from '../../../../engine/protocol/visible.ts';

export function readable(result: EvaluatedRun): EvaluatedRun {
  const { rows, columns } = result;
  return {
    ...result,
    rows:
      rows.kind === 'classes'
        ? { ...rows, classes: rows.classes.map(visible) }
        : { ...rows, target: visible(rows.target) },
    columns: columns && {
      ...columns,
      columns: columns.columns.map((column) =>
        column.kind === 'category'
          ? { ...column, name: visible(column.name), categories: column.categories.map(visible) }
          : { ...column, name: visible(column.name) },
      ),
      cut: {
        ...columns.cut,
        columns: columns.cut.columns.map((column) => ({
          ...column,
          name: visible(column.name),
          labels: column.labels.map(visible),
        })),
      },
    },
  };
}
