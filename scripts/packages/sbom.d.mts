// For the test that is TypeScript: the scripts run on Node 20, which is not.

export interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version?: string;
  readonly purl?: string;
  readonly licenses: readonly ({ readonly expression: string } | { readonly license: { readonly name: string } })[];
}

export interface BillOfMaterials {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

export declare function billOfMaterials(): BillOfMaterials;
