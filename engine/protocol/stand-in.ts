// What a process that stands in for one of Electron's utility processes and the main process send each other: the messages of the
// process itself and of every port that was handed to it, under the port's number (electron/main/stand-in.ts).

export type StandInMessage =
  | { readonly kind: 'parent'; readonly data: unknown; readonly ports: readonly number[] }
  | { readonly kind: 'port'; readonly id: number; readonly data: unknown }
  | { readonly kind: 'closed'; readonly id: number };
