// Labs: what was measured on this machine over time, and what was read from files of others. A row is one lab as JSON; what the list
// shows of it stands beside it.

import { isDeepStrictEqual } from 'node:util';
import { InputError } from '../protocol/errors.ts';
import type { LabRecord, LabResult, LabSummary } from '../protocol/lab.ts';
import type { Connection } from './database.ts';

export interface LabsTable {
  /** Newest first. */
  list(): readonly LabSummary[];
  /** Throws `input.unknown_lab`. */
  read(lab: number): LabRecord;
  /** Within a transaction. Returns its number; a lab that is there already keeps the one it has. */
  add(result: LabResult, imported: boolean): number;
  /** Throws `input.unknown_lab`. */
  remove(lab: number): void;
}

interface LabRow {
  readonly id: number;
  readonly imported: number;
  readonly result: string;
}

export function createLabsTable(connection: Connection): LabsTable {
  const rowOf = (lab: number): LabRow => {
    const row = connection.sql<[number], LabRow>('SELECT id, imported, result FROM lab WHERE id = ?').get(lab);
    if (row === undefined)
      throw new InputError('input.unknown_lab', `There is no lab ${lab}.`, 'List them with `trainyard lab --list`.');
    return row;
  };
  return {
    list() {
      const query = `
        SELECT id, imported, machine, started_at AS startedAt, json_extract(result, '$.seconds') AS seconds,
          (SELECT json_group_array(json_extract(value, '$.id')) FROM json_each(result, '$.devices')) AS devices
        FROM lab ORDER BY started_at DESC, id DESC`;
      type Row = Omit<LabSummary, 'imported' | 'devices'> & { imported: number; devices: string };
      return connection
        .sql<[], Row>(query)
        .all()
        .map((row) => ({ ...row, imported: row.imported === 1, devices: JSON.parse(row.devices) as string[] }));
    },
    read(lab) {
      const { id, imported, result } = rowOf(lab);
      return { id, imported: imported === 1, result: JSON.parse(result) as LabResult };
    },
    add(result, imported) {
      const { machine, startedAt } = result;
      const same = connection
        .sql<[string, number], LabRow>('SELECT id, imported, result FROM lab WHERE machine = ? AND started_at = ?')
        .all(machine.name, startedAt);
      const encoded = JSON.stringify(result);
      // A file that was read has its members in another order.
      const known = same.find((row) => isDeepStrictEqual(JSON.parse(row.result), JSON.parse(encoded)));
      if (known) return known.id;
      const insert = connection.sql<[string, number, number, string], { id: number }>(
        'INSERT INTO lab (machine, started_at, imported, result) VALUES (?, ?, ?, ?) RETURNING id',
      );
      return insert.get(machine.name, startedAt, imported ? 1 : 0, encoded)!.id;
    },
    remove(lab) {
      connection.sql('DELETE FROM lab WHERE id = ?').run(rowOf(lab).id);
    },
  };
}
