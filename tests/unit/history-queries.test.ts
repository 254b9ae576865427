// How SQLite goes about the questions the history asks most: nothing but a page of runs may cost time that grows with
// what all runs have recorded. Plans are checked instead of times, which depend on the machine (tests/bench/history.ts).

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import type { TestContext } from 'node:test';
import { openDatabase } from '../../engine/history/database.ts';
import type { Connection } from '../../engine/history/database.ts';
import { dropSamples, readSamples, readSummaries } from '../../engine/history/metrics.ts';
import { migrate } from '../../engine/history/migrations.ts';
import { sqlOf } from '../../engine/history/query.ts';
import { changedRuns } from '../../engine/history/revisions.ts';
import type { RunQuery } from '../../engine/protocol/store.ts';
import { temporaryHome } from './fixtures/history.ts';

function open(context: TestContext): Connection {
  const connection = openDatabase(join(temporaryHome(context), 'history.db'));
  context.after(() => connection.close());
  migrate(connection);
  return connection;
}

/** SQLite's plan of a statement, one line a step: "SEARCH run USING INDEX …", "SCAN run", "USE TEMP B-TREE FOR ORDER BY". */
function planOf(connection: Connection, sql: string): string {
  const parameterless = sql.replace(/@\w+|\?/g, 'NULL');
  const steps = connection.sql<[], { detail: string }>(`EXPLAIN QUERY PLAN ${parameterless}`).all();
  return steps.map(({ detail }) => detail).join('\n');
}

function planOfQuery(connection: Connection, query: RunQuery): string {
  return planOf(connection, sqlOf(query, () => 1).rows);
}

test('the newest runs come from an index, unsorted', (context) => {
  const plan = planOfQuery(open(context), {});
  assert.match(plan, /USING INDEX run_by_creation/);
  assert.doesNotMatch(plan, /TEMP B-TREE/);
});

test('states and datasets narrow the search by index', (context) => {
  const connection = open(context);
  assert.match(
    planOfQuery(connection, { states: ['running'], sort: { by: 'name', descending: false } }),
    /run_by_state/,
  );
  assert.match(planOfQuery(connection, { dataset: 'd', sort: { by: 'name', descending: false } }), /run_by_dataset/);
});

test('sorting by a metric looks up one summary a run', (context) => {
  const plan = planOfQuery(open(context), { sort: { by: 'best.val_loss', descending: false } });
  assert.match(plan, /SEARCH summary USING PRIMARY KEY \(run=\? AND series=\?\)/);
});

test('no question about the list of runs touches a sample', (context) => {
  const connection = open(context);
  const queries: readonly RunQuery[] = [
    {},
    { search: 'a b', tags: ['x'], starred: true },
    { deleted: true },
    ...['name', 'duration', 'best.val_loss', 'last.x'].map((by) => ({ sort: { by, descending: true } })),
  ];
  for (const query of queries) {
    const { rows, total } = sqlOf(query, () => 1);
    assert.doesNotMatch(planOf(connection, rows) + planOf(connection, total), /sample/);
  }
  const plan = planOf(connection, readSummaries);
  assert.match(plan, /SEARCH summary USING PRIMARY KEY \(run=\?\)/);
  assert.match(plan, /SEARCH series USING INTEGER PRIMARY KEY/);
});

test('curves are read and cut by index, in order', (context) => {
  const connection = open(context);
  for (const sql of [readSamples, dropSamples]) {
    const plan = planOf(connection, sql);
    assert.match(plan, /SEARCH sample USING (COVERING )?INDEX sample_by_step \(run=\? AND step>\?\)/);
    assert.doesNotMatch(plan, /TEMP B-TREE/);
  }
});

test('what other processes changed is found by index', (context) => {
  assert.match(planOf(open(context), changedRuns), /SEARCH run USING (COVERING )?INDEX run_by_revision/);
});
