export const iconSizes: readonly number[];
/** electron-builder.yml, read. */
export function builderSettings(): Record<string, unknown>;
export function desktopEntry(options: { readonly program: string }): string;
export function mimeTypes(): string;
/** A PNG of so many pixels. */
export function iconPng(size: number): Promise<Uint8Array>;
