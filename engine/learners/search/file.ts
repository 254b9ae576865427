// A search hands over its best trial as an ensemble of one member, whose models are those of its folds: `auto/file.ts` reads that.

export const file = {};
