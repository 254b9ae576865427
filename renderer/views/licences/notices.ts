// NOTICES taken apart: scripts/notices.mjs writes a heading between two lines of equals signs before each text.

export interface LicenceSection {
  readonly title: string;
  readonly text: string;
}

/** @param notices  the file as it is; what stands before its first heading is left out */
export function licenceSections(notices: string): readonly LicenceSection[] {
  const [, ...parts] = notices.split(/^={80}\n(.+)\n={80}\n/m);
  return parts.flatMap((title, at) => (at % 2 === 0 ? [{ title, text: parts[at + 1].trim() }] : []));
}
