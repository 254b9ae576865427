// Loaded by `npm test` into each of the engine's test files: they share what Node has compiled of the engine's modules, the programs they
// start do not, since some are weighed, and are lighter with modules that are compiled already.

delete process.env['NODE_COMPILE_CACHE'];
