// Labs: what was measured on this machine over time, and what was read from files of others. A row is one lab as JSON; what the list
// shows of it stands beside it.

import { isDeepStrictEqual } from 'node:util';
import { InputError, TrainyardError } from '../protocol/errors.ts';
import type { LabRecord, LabResult, LabSummary } from '../protocol/lab.ts';
import type { Connection } from './database.ts';
import { readLab } from './readable.ts';

export interface LabsTable {
  /** Newest first, without those that cannot be read. */
  list(): readonly LabSummary[];
  /** Throws `input.unknown_lab`, and `store.unreadable_lab`. */
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
      type Row = LabRow & Pick<LabSummary, 'machine' | 'startedAt'>;
      const query = `
        SELECT id, imported, machine, started_at AS startedAt, result FROM lab ORDER BY started_at DESC, id DESC`;
      return connection
        .sql<[], Row>(query)
        .all()
        .flatMap(({ id, imported, machine, startedAt, result }) => {
          const lab = readLab(result);
          if (lab === null) return [];
          const { seconds, devices } = lab;
          return [{ id, imported: imported === 1, machine, startedAt, seconds, devices: devices.map((one) => one.id) }];
        });
    },
    read(lab) {
      const { id, imported, result: text } = rowOf(lab);
      const result = readLab(text);
      if (result === null) {
        const message = `What the history holds of lab ${lab} cannot be read.`;
        throw new TrainyardError('store.unreadable_lab', message, 'Measure this machine again, or read its file.');
      }
      return { id, imported: imported === 1, result };
    },
    add(result, imported) {
      const { machine, startedAt } = result;
      const same = connection
        .sql<[string, number], LabRow>('SELECT id, imported, result FROM lab WHERE machine = ? AND started_at = ?')
        .all(machine.name, startedAt);
      const encoded = JSON.stringify(result);
      // A file that was read has its members in another order.
      const known = same.find((row) => isDeepStrictEqual(readLab(row.result), JSON.parse(encoded)));
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
