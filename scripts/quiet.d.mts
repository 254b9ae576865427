// For the test that is TypeScript: the scripts run on Node 20, which is not.

export declare class QuietLines {
  readonly left: ReadonlyMap<string, number>;
  constructor(write: (text: string) => void);
  add(text: string): void;
  end(): void;
}
