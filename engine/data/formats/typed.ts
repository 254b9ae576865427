// Files whose columns carry types (Parquet, JSON): which of the four storage types each becomes. Structures come apart into
// columns named by their path (`user.geo.lat`); lists and maps become JSON text.

import type { DuckDBConnection, DuckDBType } from '@duckdb/node-api';
import { DuckDBTypeId } from '@duckdb/node-api';
import { explainFailure } from '../failures.ts';
import { uniqueNames } from '../schema/names.ts';
import { storedAs } from '../schema/stored.ts';
import type { StorageType, StoredColumn } from '../schema/stored.ts';
import { quoteName, quoteText } from '../sql.ts';
import type { TableSource } from './format.ts';

/** A column of the file, or a part of one. */
interface Leaf {
  readonly name: string;
  readonly expression: string;
  readonly storage: StorageType;
  /** Whole numbers that a DOUBLE may not hold exactly. */
  readonly large: boolean;
}

/** A source over a table expression. */
export async function typedSource(
  connection: DuckDBConnection,
  table: string,
  reading: Readonly<Record<string, string>>,
): Promise<TableSource> {
  const described = await explainFailure(() => connection.runAndReadAll(`SELECT * FROM ${table} LIMIT 0`));
  const types = described.columnTypes();
  const leaves = described
    .columnNames()
    .flatMap((name, index) => leavesOf(name, quoteName(name), types[index] as DuckDBType));
  return sourceOf(leaves, table, reading, new Set());
}

/** `exact`: columns kept as text, since numbers would lose digits. */
function sourceOf(
  leaves: readonly Leaf[],
  table: string,
  reading: Readonly<Record<string, string>>,
  exact: ReadonlySet<string>,
): TableSource {
  const { names, warnings } = uniqueNames(leaves.map(({ name }) => name));
  const columns: StoredColumn[] = [];
  const expressions: string[] = [];
  leaves.forEach((leaf, index) => {
    const name = names[index] ?? '';
    const text = exact.has(name);
    const { expression } = leaf;
    columns.push({ name, storage: text ? 'VARCHAR' : leaf.storage, missing: [] });
    const stored = text
      ? `CAST(${expression} AS VARCHAR)`
      : leaf.storage === 'DOUBLE'
        ? `CAST(${expression} AS DOUBLE)`
        : expression;
    expressions.push(`${stored} AS ${quoteName(name)}`);
  });
  const large = new Set(names.filter((name, index) => leaves[index]?.large === true && !exact.has(name)));
  return {
    columns,
    query: `SELECT ${expressions.join(', ')} FROM ${table}`,
    reading,
    warnings,
    check: () => Promise.resolve({ finished: [] }),
    large,
    keepExact: (more) => sourceOf(leaves, table, reading, new Set([...exact, ...more])),
  };
}

function leavesOf(name: string, expression: string, type: DuckDBType): readonly Leaf[] {
  const leaf = (storage: StorageType, read: string, large = false): readonly Leaf[] => [
    { name, expression: read, storage, large },
  ];
  switch (type.typeId) {
    case DuckDBTypeId.STRUCT: {
      const { entryNames, entryTypes } = type as DuckDBType & {
        entryNames: readonly string[];
        entryTypes: readonly DuckDBType[];
      };
      return entryNames.flatMap((entry, index) =>
        leavesOf(
          `${name}.${entry}`,
          `struct_extract(${expression}, ${quoteText(entry)})`,
          entryTypes[index] as DuckDBType,
        ),
      );
    }
    case DuckDBTypeId.TINYINT:
    case DuckDBTypeId.SMALLINT:
    case DuckDBTypeId.INTEGER:
    case DuckDBTypeId.UTINYINT:
    case DuckDBTypeId.USMALLINT:
    case DuckDBTypeId.UINTEGER:
    case DuckDBTypeId.FLOAT:
    case DuckDBTypeId.DOUBLE:
      return leaf('DOUBLE', expression);
    case DuckDBTypeId.BIGINT:
    case DuckDBTypeId.UBIGINT:
    case DuckDBTypeId.HUGEINT:
    case DuckDBTypeId.UHUGEINT:
    case DuckDBTypeId.DECIMAL:
      return leaf('DOUBLE', expression, true);
    case DuckDBTypeId.BOOLEAN:
      return leaf('BOOLEAN', expression);
    case DuckDBTypeId.DATE:
    case DuckDBTypeId.TIMESTAMP:
    case DuckDBTypeId.TIMESTAMP_S:
    case DuckDBTypeId.TIMESTAMP_MS:
    case DuckDBTypeId.TIMESTAMP_NS:
    case DuckDBTypeId.TIMESTAMP_TZ:
      return leaf('TIMESTAMP', `CAST(${expression} AS TIMESTAMP)`);
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY:
    case DuckDBTypeId.MAP:
      return leaf('VARCHAR', `CAST(to_json(${expression}) AS VARCHAR)`);
    default: {
      // Values of several types in one JSON field: texts without their quotes.
      const text = type.alias === 'JSON' ? `${expression} ->> '$'` : `CAST(${expression} AS VARCHAR)`;
      return leaf('VARCHAR', storedAs(text));
    }
  }
}
