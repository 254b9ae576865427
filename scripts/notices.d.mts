// For the test that is TypeScript: the scripts run on Node 20, which is not.

export interface Notice {
  readonly title: string;
  readonly licence: string;
  readonly within?: string;
  readonly text: string;
}

export declare function writeNotices(file?: string): void;
export declare function packageNotice(
  name: string,
  exceptions: Readonly<Record<string, { readonly textOf: string }>>,
): Notice;
export declare function withDependencies(name: string): readonly string[];
