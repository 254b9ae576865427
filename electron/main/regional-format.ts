// The system's regional format, for the window. Electron's own answer, `app.getSystemLocale()`, is the regional format on Windows and macOS; on
// Linux it is the language of messages (LC_ALL, LC_MESSAGES, LANG), so that the formats a desktop sets beside it are looked for here. LC_ALL, which
// no desktop sets, is somebody's own wish on every system.

import type { RegionalFormat } from '../../engine/protocol/app.ts';

/** The tags as the system has them, `de_DE.UTF-8` and `C` included: who writes with them sorts that out. */
export function regionalFormat(
  system: NodeJS.Platform,
  { LC_ALL, LC_NUMERIC, LC_TIME, LANG }: NodeJS.ProcessEnv,
  systemLocale: string,
): RegionalFormat {
  // One that is set to nothing is not set (POSIX, 8.2).
  if (LC_ALL) return { numbers: LC_ALL, dates: LC_ALL };
  if (system !== 'linux') return { numbers: systemLocale, dates: systemLocale };
  const named = (own: string | undefined): string => [own, LANG].find(Boolean) ?? systemLocale;
  return { numbers: named(LC_NUMERIC), dates: named(LC_TIME) };
}
