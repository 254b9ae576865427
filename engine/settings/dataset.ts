// What a person may change about a dataset: the words of its settings.

export const columnTypes = ['number', 'category', 'datetime', 'boolean', 'text', 'identifier'] as const;
export type ColumnType = (typeof columnTypes)[number];

export const tasks = ['classification', 'regression'] as const;
export type Task = (typeof tasks)[number];

/** What a split goes by, other than chance. `time`: the earliest rows train, the latest test. `group`: all rows of a group are in one split. */
export const splitKinds = ['time', 'group'] as const;
