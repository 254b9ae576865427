// What makes results look better than they are although the split goes by group: a column that names the group again, an owner
// of several groups, copies of rows in other groups, and fewer examples than rows.

import type { DuckDBConnection } from '@duckdb/node-api';
import type { DataWarning } from '../../protocol/data.ts';
import { queryRows } from '../database.ts';
import { leak } from './quality.ts';
import type { Feature, TargetFacts } from './roles.ts';
import { fewestGroups, isGroupName } from './split-by.ts';
import { typedValue } from './stored.ts';
import { holdSample, type MeasuredTable } from './table.ts';
import { show } from './typing.ts';

/** Rows in which a column and the group stand for each other, of those that have both. */
const twinShare = 0.95;
/** Of the groups, those that belong to one owner alone. */
const nestedShare = 0.99;
/** With more groups it does not matter that each is one example. */
const manyGroups = 1000;
/** Rows that rule most columns out before all rows are looked at, and what they have to fall below: fewer rows make columns more alike. */
const roughRows = 8192;
const roughTwin = 0.8;
const roughNested = 0.5;
/** Columns asked about, the likeliest first. */
const mostColumns = 64;

/** What there is to say about a split by `group`. `columns`: all but the target; `used`: the features. */
export async function groupLeaks(
  connection: DuckDBConnection,
  table: MeasuredTable,
  about: {
    readonly target: TargetFacts;
    readonly group: Feature;
    readonly columns: readonly Feature[];
    readonly used: ReadonlySet<string>;
  },
): Promise<DataWarning[]> {
  const { target, group, columns, used } = about;
  const groups = group.info.distinct;
  const candidates = columns
    .filter(({ info }) => info.name !== group.info.name && info.distinct >= fewestGroups)
    .filter(({ info: { name, type } }) => type === 'category' || (type !== 'datetime' && isGroupName(name)))
    // What is no feature and owns no groups has nothing to be said of.
    .filter((one) => used.has(one.info.name) || mayOwn(one, groups))
    .sort((one, other) => apart(one, groups) - apart(other, groups))
    .slice(0, mostColumns);
  const warnings: DataWarning[] = [];
  for (const one of await notRuledOut(connection, table, group, candidates)) {
    const { name } = one.info;
    const { matched, nested } = await likeness(connection, table.from, group, one);
    if (matched >= twinShare) {
      if (used.has(name)) warnings.push(twin(name, group.info.name, matched));
    } else if (nested >= nestedShare && mayOwn(one, groups)) {
      warnings.push(owner(one, group));
    }
  }
  const pure = await onePerGroup(connection, table, target, group);
  return pure === null ? warnings : [...warnings, pure];
}

/** Whether its name and the number of its values let it own several groups each. */
const mayOwn = ({ info: { name, distinct } }: Feature, groups: number): boolean =>
  distinct * 10 < groups * 9 && isGroupName(name);

/** Columns that evenly spread rows do not show to be neither: of a long table nearly all are unlike its groups. */
async function notRuledOut(
  connection: DuckDBConnection,
  table: MeasuredTable,
  group: Feature,
  columns: readonly Feature[],
): Promise<readonly Feature[]> {
  const step = Math.floor(table.rows / roughRows);
  if (step < 2) return columns;
  const groups = group.info.distinct;
  const sample = `(SELECT * FROM ${table.from} WHERE file_row_number % ${step} = 0)`;
  const names = [group, ...columns].map(({ column }) => column.name);
  const { sample: held } = await holdSample(connection, { ...table, sample }, names, 'held_groups');
  const left: Feature[] = [];
  for (const one of columns) {
    const { matched, nested } = await likeness(connection, held, group, one);
    if (matched >= roughTwin || (nested >= roughNested && mayOwn(one, groups))) left.push(one);
  }
  await connection.run(`DROP TABLE ${held}`);
  return left;
}

/** How far the number of a column's values is from that of the groups, as a ratio. */
const apart = ({ info }: Feature, groups: number): number => Math.abs(Math.log(info.distinct / Math.max(1, groups)));

/** Share of rows in which each is the other's most frequent value, and of groups that have one value of the column. */
async function likeness(
  connection: DuckDBConnection,
  from: string,
  group: Feature,
  other: Feature,
): Promise<{ readonly matched: number; readonly nested: number }> {
  const [key, value] = [group, other].map(({ column }) => typedValue(column, 'category'));
  const [row = {}] = await queryRows(
    connection,
    `SELECT sum(n) AS rows, sum(n) FILTER (of_group = 1 AND of_value = 1) AS matched,
       count(DISTINCT g) AS groups, count(*) AS pairs
     FROM (SELECT g, n, row_number() OVER (PARTITION BY g ORDER BY n DESC, v) AS of_group,
             row_number() OVER (PARTITION BY v ORDER BY n DESC, g) AS of_value
           FROM (SELECT ${key} AS g, ${value} AS v, count(*) AS n FROM ${from} GROUP BY ALL)
           WHERE g IS NOT NULL AND v IS NOT NULL)`,
  );
  const [rows, groups] = [Number(row.rows ?? 0), Number(row.groups ?? 0)];
  if (rows === 0 || groups === 0) return { matched: 0, nested: 0 };
  return { matched: Number(row.matched ?? 0) / rows, nested: 1 - (Number(row.pairs ?? 0) - groups) / groups };
}

function twin(name: string, group: string, matched: number): DataWarning {
  const share = matched === 1 ? 'in every row' : `in ${Math.floor(matched * 100)} % of the rows`;
  return leak(
    name,
    `${name} names ${group} again (one stands for one ${share}): a model learns from it the groups it has seen, and is tested on others.`,
    'Leave it out.',
  );
}

function owner({ info }: Feature, group: Feature): DataWarning {
  return {
    code: 'group_split',
    message: `Each ${group.info.name} belongs to one ${info.name}, which has ${show(Math.round((group.info.distinct / info.distinct) * 10) / 10)} of them on average: the same ${info.name} is learned from and tested on. Split by ${info.name} if it is to predict for new ones.`,
    columns: [info.name],
  };
}

/** Groups of several rows with one and the same target each; null = there are others, or so many that it does not matter. */
async function onePerGroup(
  connection: DuckDBConnection,
  table: MeasuredTable,
  { column, info, task }: TargetFacts,
  group: Feature,
): Promise<DataWarning | null> {
  const label = typedValue(column, task === 'regression' ? 'number' : 'category');
  const [row = {}] = await queryRows(
    connection,
    `SELECT count(*) AS groups, sum(n) AS rows, count(*) FILTER (n > 1) AS several, count(*) FILTER (n > 1 AND labels > 1) AS mixed
     FROM (SELECT g, count(*) AS n, count(DISTINCT y) AS labels
           FROM (SELECT ${typedValue(group.column, 'category')} AS g, ${label} AS y FROM ${table.from})
           WHERE g IS NOT NULL AND y IS NOT NULL GROUP BY g)`,
  );
  const [groups, rows, several, mixed] = [row.groups, row.rows, row.several, row.mixed].map(Number) as [
    number,
    number,
    number,
    number,
  ];
  if (groups >= manyGroups || several < fewestGroups || mixed > several * 0.01) return null;
  return {
    code: 'group_target',
    message: `All rows of a ${group.info.name} have the same ${info.name}: ${show(rows)} rows are as good as ${show(groups)} examples, and a test split has few of them. Cross-validate, so that each is tested on once.`,
    columns: [group.info.name],
  };
}
