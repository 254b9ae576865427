// An error as it crosses process borders.

/** Stable codes; the command line turns `input.*` and `usage.*` into exit code 2. */
export type ErrorCode = `${'input' | 'usage' | 'data' | 'model' | 'device' | 'store' | 'run' | 'internal'}.${string}`;

export interface WireError {
  readonly name: string;
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string;
}
