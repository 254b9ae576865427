// What the command line needs of whoever runs it: plain Node, or the installed app, whose program is no Node and which starts
// other processes in ways of its own.

import type { Port } from './port.ts';

/** A process that serves something, as whoever started it sees it. */
export interface HostProcess {
  readonly port: Port;
  /** Resolves when the process serves, rejects with what kept it from that. */
  readonly ready: Promise<void>;
  /** Resolves with the reason, in words, when the process has ended. */
  readonly ended: Promise<string>;
  /** Ends it at once. */
  kill(): void;
}

export interface CommandSurroundings {
  /** Starts the store's process: electron/hosts/store.ts with these arguments. */
  startStore?(args: readonly string[]): HostProcess;
  /** Starts the process that runs exported models: electron/hosts/onnx.ts. */
  startOnnx?(): HostProcess;
  /** Starts the process of one run: electron/cli/trainer.ts with these arguments. */
  startTrainer?(args: readonly string[]): HostProcess;
}

/** Runs one command to its end; resolves with its exit code when all it wrote has gone out. */
export type RunCommandLine = (args: readonly string[], surroundings: CommandSurroundings) => Promise<number>;
