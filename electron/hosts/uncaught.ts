// What a process could not deal with is kept in its home before it ends of it (engine/system/crashes.ts); that it was asked to end is no failure.

import { reportUncaught } from '../../engine/system/crashes.ts';
import project from '../../package.json' with { type: 'json' };
import { homeArgument } from './surroundings.ts';

export function reportOwnFailures(part: string): void {
  reportUncaught(homeArgument(), part, project.version);
}

/** Of utility processes: Electron tells 0 for one that any signal ended, so who is asked to end says it by its code. */
export function tellWhenAsked(): void {
  process.once('SIGTERM', () => process.exit(143));
}
