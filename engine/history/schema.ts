// The tables of the history, as version 1 made them and what came later. Times are milliseconds since 1970, JSON columns hold the values of
// engine/protocol/ as they are.
//
// Metrics take two forms. `sample` is append-only: one row for all values reported at one moment, packed by samples.ts
// (10 bytes a value: 10,000 runs × 50 series × 200 points fit in about a gigabyte). `summary` keeps the last and best
// value of each series of each run, so that listing and sorting runs never reads a sample.

export const schemaVersion1 = `
  CREATE TABLE run (
    -- AUTOINCREMENT: the number of a purged run is never used again, so a folder without a row is rubbish.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    state TEXT NOT NULL
      CHECK (state IN ('queued', 'running', 'paused', 'completed', 'stopped', 'failed', 'interrupted')),
    dataset TEXT NOT NULL,
    dataset_name TEXT NOT NULL,
    device TEXT NOT NULL DEFAULT '',
    threads INTEGER NOT NULL DEFAULT 0,
    parameters INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    deleted_at INTEGER,
    starred INTEGER NOT NULL DEFAULT 0,
    request TEXT CHECK (request IN ('pause', 'resume', 'stop')),
    owner_pid INTEGER NOT NULL,
    owner_started_at INTEGER NOT NULL,
    -- Value of the counter at the row's last change: how one process learns what another one changed.
    revision INTEGER NOT NULL,
    -- Lower-case text that searching looks in.
    search TEXT NOT NULL,
    tags TEXT NOT NULL DEFAULT '[]',
    notes TEXT NOT NULL DEFAULT '',
    config TEXT NOT NULL,
    progress TEXT,
    result TEXT,
    error TEXT
  ) STRICT;
  CREATE INDEX run_by_creation ON run (created_at) WHERE deleted_at IS NULL;
  CREATE INDEX run_by_state ON run (state);
  CREATE INDEX run_by_dataset ON run (dataset);
  CREATE INDEX run_by_revision ON run (revision);
  CREATE INDEX run_by_deletion ON run (deleted_at) WHERE deleted_at IS NOT NULL;

  -- One row: the number of the last change.
  CREATE TABLE counter (revision INTEGER NOT NULL) STRICT;
  INSERT INTO counter (revision) VALUES (0);

  -- Series by number; samples hold the number in 16 bits.
  CREATE TABLE series (
    id INTEGER PRIMARY KEY CHECK (id BETWEEN 1 AND 65535),
    name TEXT NOT NULL UNIQUE
  ) STRICT;

  CREATE TABLE sample (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    step INTEGER NOT NULL,
    epoch REAL NOT NULL,
    seconds REAL NOT NULL,
    data BLOB NOT NULL
  ) STRICT;
  CREATE INDEX sample_by_step ON sample (run, step);

  -- NULL stands for NaN, which SQLite cannot store.
  CREATE TABLE summary (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    series INTEGER NOT NULL REFERENCES series (id),
    last REAL,
    best REAL,
    best_epoch REAL,
    PRIMARY KEY (run, series)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE log (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    time INTEGER NOT NULL,
    level TEXT NOT NULL CHECK (level IN ('info', 'warning', 'error')),
    message TEXT NOT NULL
  ) STRICT;
  CREATE INDEX log_by_run ON log (run);

  CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

// What a run learned from: splits and columns. What `progress` called the time elapsed was the time of training alone: it
// keeps that under a name of its own, and of runs that have ended the time from start to end is known.
export const schemaVersion2 = `
  ALTER TABLE run ADD COLUMN data TEXT;
  UPDATE run SET progress = json_set(
    progress,
    '$.secondsTraining', json_extract(progress, '$.secondsElapsed'),
    '$.secondsElapsed', max(
      coalesce(json_extract(progress, '$.secondsElapsed'), 0),
      coalesce((ended_at - started_at) / 1000.0, 0)
    )
  ) WHERE progress IS NOT NULL;
`;

/** Says in the header of a database whose it is (sqlite.org/pragma.html#pragma_application_id): "Trny". */
export const applicationId = 0x54726e79;

// Labs: what was measured on machines, as JSON of engine/protocol/lab.ts.
export const schemaVersion6 = `
  CREATE TABLE lab (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    machine TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    -- Read from a file; 0 = measured by this home.
    imported INTEGER NOT NULL,
    result TEXT NOT NULL CHECK (json_valid(result))
  ) STRICT;
  CREATE INDEX lab_by_time ON lab (started_at);
`;

// A run may come from another one. The parent may be purged before it: its number stays, so that the two are still told apart
// from runs that began by themselves.
export const schemaVersion7 = `
  ALTER TABLE run ADD COLUMN parent INTEGER;
  ALTER TABLE run ADD COLUMN relation TEXT
    CHECK (relation IN ('continued', 'started from', 'fold') AND parent IS NOT NULL OR relation IS NULL AND parent IS NULL);
  -- What it took over from its parent, as JSON.
  ALTER TABLE run ADD COLUMN start TEXT CHECK (start IS NULL OR json_valid(start));
  CREATE INDEX run_by_parent ON run (parent) WHERE parent IS NOT NULL;
`;

// A run can be what a finding about another one advised. SQLite cannot change a CHECK, but one of a column goes with the column.
export const schemaVersion10 = `
  ALTER TABLE run ADD COLUMN relation_anew TEXT
    CHECK (
      relation_anew IN ('continued', 'started from', 'fold', 'advised by') AND parent IS NOT NULL
      OR relation_anew IS NULL AND parent IS NULL
    );
  UPDATE run SET relation_anew = relation WHERE relation IS NOT NULL;
  ALTER TABLE run DROP COLUMN relation;
  ALTER TABLE run RENAME COLUMN relation_anew TO relation;
`;

// A run can be a member of an ensemble.
export const schemaVersion11 = `
  ALTER TABLE run ADD COLUMN relation_anew TEXT
    CHECK (
      relation_anew IN ('continued', 'started from', 'fold', 'advised by', 'member') AND parent IS NOT NULL
      OR relation_anew IS NULL AND parent IS NULL
    );
  UPDATE run SET relation_anew = relation WHERE relation IS NOT NULL;
  ALTER TABLE run DROP COLUMN relation;
  ALTER TABLE run RENAME COLUMN relation_anew TO relation;
`;

// Where a waiting run stands, as JSON of engine/protocol/queue.ts.
export const schemaVersion12 = 'ALTER TABLE run ADD COLUMN queue TEXT';

// Trials of a search, as JSON of engine/protocol/search.ts.
export const schemaVersion13 = `
  CREATE TABLE trial (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    -- From 1.
    number INTEGER NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run, number)
  ) STRICT;
`;

// A run can have been trained elsewhere.
export const schemaVersion14 = `
  ALTER TABLE run ADD COLUMN relation_anew TEXT
    CHECK (
      relation_anew IN ('continued', 'started from', 'fold', 'advised by', 'member', 'trained elsewhere') AND parent IS NOT NULL
      OR relation_anew IS NULL AND parent IS NULL
    );
  UPDATE run SET relation_anew = relation WHERE relation IS NOT NULL;
  ALTER TABLE run DROP COLUMN relation;
  ALTER TABLE run RENAME COLUMN relation_anew TO relation;
`;

// A run can end `diverged`. SQLite cannot change a CHECK: the table is made anew under its name. Needs foreign keys to be off,
// or dropping the old one would take samples and summaries with it.
export const schemaVersion4 = `
  CREATE TABLE run_anew (
    -- AUTOINCREMENT: the number of a purged run is never used again, so a folder without a row is rubbish.
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    state TEXT NOT NULL
      CHECK (state IN ('queued', 'running', 'paused', 'completed', 'stopped', 'diverged', 'failed', 'interrupted')),
    dataset TEXT NOT NULL,
    dataset_name TEXT NOT NULL,
    device TEXT NOT NULL DEFAULT '',
    threads INTEGER NOT NULL DEFAULT 0,
    parameters INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    deleted_at INTEGER,
    starred INTEGER NOT NULL DEFAULT 0,
    request TEXT CHECK (request IN ('pause', 'resume', 'stop')),
    owner_pid INTEGER NOT NULL,
    owner_started_at INTEGER NOT NULL,
    -- Value of the counter at the row's last change: how one process learns what another one changed.
    revision INTEGER NOT NULL,
    -- Lower-case text that searching looks in.
    search TEXT NOT NULL,
    tags TEXT NOT NULL DEFAULT '[]',
    notes TEXT NOT NULL DEFAULT '',
    config TEXT NOT NULL,
    progress TEXT,
    result TEXT,
    error TEXT,
    data TEXT
  ) STRICT;
  INSERT INTO run_anew (
    id, name, state, dataset, dataset_name, device, threads, parameters, created_at, started_at, ended_at, deleted_at, starred,
    request, owner_pid, owner_started_at, revision, search, tags, notes, config, progress, result, error, data
  ) SELECT
    id, name, state, dataset, dataset_name, device, threads, parameters, created_at, started_at, ended_at, deleted_at, starred,
    request, owner_pid, owner_started_at, revision, search, tags, notes, config, progress, result, error, data
  FROM run;
  -- The highest number ever used, which may be that of a purged run.
  DELETE FROM sqlite_sequence WHERE name = 'run_anew';
  INSERT INTO sqlite_sequence (name, seq) SELECT 'run_anew', seq FROM sqlite_sequence WHERE name = 'run';
  DROP TABLE run;
  ALTER TABLE run_anew RENAME TO run;
  CREATE INDEX run_by_creation ON run (created_at) WHERE deleted_at IS NULL;
  CREATE INDEX run_by_state ON run (state);
  CREATE INDEX run_by_dataset ON run (dataset);
  CREATE INDEX run_by_revision ON run (revision);
  CREATE INDEX run_by_deletion ON run (deleted_at) WHERE deleted_at IS NOT NULL;
`;

// Finding a run again: a group of its own, the columns it learned from, and an index of all words in `search`, by three letters at a time, so
// that any part of a word is found (sqlite.org/fts5.html#the_trigram_tokenizer). Triggers keep it; it holds no text of its own.
// Where a run of another home came from, as JSON of engine/protocol/keeping.ts.
export const schemaVersion8 = `
  ALTER TABLE run ADD COLUMN "group" TEXT;
  ALTER TABLE run ADD COLUMN columns TEXT;
  ALTER TABLE run ADD COLUMN origin TEXT;
  CREATE INDEX run_by_group ON run ("group") WHERE "group" IS NOT NULL;
  CREATE VIRTUAL TABLE run_text USING fts5(search, content='', contentless_delete=1, tokenize='trigram');
  CREATE TRIGGER run_text_insert AFTER INSERT ON run BEGIN
    INSERT INTO run_text (rowid, search) VALUES (new.id, new.search);
  END;
  CREATE TRIGGER run_text_update AFTER UPDATE OF search ON run WHEN new.search IS NOT old.search BEGIN
    DELETE FROM run_text WHERE rowid = old.id;
    INSERT INTO run_text (rowid, search) VALUES (new.id, new.search);
  END;
  CREATE TRIGGER run_text_delete AFTER DELETE ON run BEGIN
    DELETE FROM run_text WHERE rowid = old.id;
  END;
`;
