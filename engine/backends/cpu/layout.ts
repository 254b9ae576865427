// Addresses and record formats of the CPU arena, one declaration for both sides: the host (TypeScript) and the interpreter
// (AssemblyScript, compiled to WASM). So this file holds nothing but untyped integer constants. See docs/cpu-backend.md.

/** Every slot, program and scratch area starts at a multiple of this many bytes (a cache line). */
export const alignment = 64;

/** The control block: words shared by all threads of one machine, each on its own cache line. */
export const controlBase = 1024;
/** Counts submits; workers wait for it to change. */
export const controlSubmit = 1024;
/** The submit's program address, first step and number of steps (words after `controlSubmit`). */
export const controlProgram = 1028;
export const controlFirstStep = 1032;
export const controlSteps = 1036;
/** 1 + number of the thread that failed; 0 while all is well. */
export const controlFailed = 1088;
/** Threads that reached the current barrier. */
export const controlArrived = 1152;
/** Counts barriers passed; threads wait for it to change. */
export const controlPhase = 1216;
/** Threads asleep at the barrier. */
export const controlBarrierSleepers = 1280;
/** Workers asleep between submits. */
export const controlSubmitSleepers = 1344;
/** Workers that are up and waiting for submits. */
export const controlReady = 1408;

/** Static data of the compiled kernels starts here; the exported `staticEnd` tells where it ends. */
export const staticBase = 4096;

/** A program address that tells workers to leave their loop. */
export const programStop = 0;

/** Program header: number of calls, one spare word; then the call records. */
export const programHeaderWords = 2;
/** Call record: kernel index, words of the record, length of the native stretch from here, one spare word; then the arguments. */
export const recordHeaderWords = 4;

/** Loads of an atomic before a waiting thread goes to sleep: about 20 µs at a barrier, 50 µs between submits. */
export const barrierSpins = 20000;
export const submitSpins = 50000;
/** A sleeping thread looks for failures this often (nanoseconds). */
export const sleepSlice = 100000000;

/** Floats of scratch memory that the native kernels have beside the arena, a thread; most of it for Winograd's tiles and products. */
export const nativeScratchFloats = 1441792;
export const nativeTileFloats = 1048576;
/** Floats of tiles and products that stay in the second-level cache next to weights: what is used of them where all weights fit. */
export const nativeCachedFloats = 114688;

/** Results of `runProgram`. */
export const outcomeDone = 0;
export const outcomeFailed = 1;
export const outcomeTimeout = 2;
