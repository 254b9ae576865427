// Sixty generated odd tables, cell by cell against what the generator wrote; tests/soak/odd-tables.ts is the long form.

import assert from 'node:assert/strict';
import test from 'node:test';
import { oddTable, sameCell } from '../../support/odd-tables.ts';
import { allRows, makeService, writeTable } from './helpers.ts';

test('sixty odd tables come out as they were written', async (context) => {
  const service = makeService(context);
  for (let seed = 1; seed <= 60; seed++) {
    const { name, bytes, names, cells, layout } = oddTable(seed);
    const about = `table ${seed}: ${JSON.stringify(layout)}`;
    const info = await service.import({ job: name, path: writeTable(context, name, bytes) });
    assert.equal(info.rows, cells.length, about);
    assert.deepEqual(
      info.columns.map((column) => column.name),
      names.map((written) => written.replaceAll(/\s+/g, ' ').trim()),
      about,
    );
    const rows = await allRows(service, info);
    cells.forEach((written, row) =>
      written.forEach((cell, column) => {
        const read = rows[row]?.[column];
        assert.ok(
          sameCell(cell, read, layout.decimal),
          `${about}, row ${row + 1}, ${names[column]}: ${JSON.stringify(cell)} → ${JSON.stringify(read)}`,
        );
      }),
    );
  }
});
