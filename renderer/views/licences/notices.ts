// NOTICES taken apart: scripts/notices.mjs writes a heading between two lines of equals signs before each text.

export interface LicenceSection {
  readonly title: string;
  /** Which licence, and what it came in. */
  readonly detail: string;
  readonly text: string;
}

/** @param notices  the file as it is; what stands before its first heading is left out */
export function licenceSections(notices: string): readonly LicenceSection[] {
  const [, ...parts] = notices.split(/^={80}\n(.+)\n={80}\n/m);
  return parts.flatMap((heading, at) => (at % 2 === 0 ? [{ ...headingOf(heading), text: parts[at + 1].trim() }] : []));
}

/** “libaom (BSD-2-Clause), in @napi-rs/image” in two lines. */
function headingOf(heading: string): Pick<LicenceSection, 'title' | 'detail'> {
  const [, title = heading, licence = '', within = ''] = /^(.+?) \(([^()]+)\)(.*)$/.exec(heading) ?? [];
  return { title, detail: licence + within };
}
