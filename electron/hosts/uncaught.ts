// What a process could not deal with is kept in its home before it ends of it (engine/system/crashes.ts).

import { reportUncaught } from '../../engine/system/crashes.ts';
import project from '../../package.json' with { type: 'json' };
import { homeArgument } from './surroundings.ts';

export function reportOwnFailures(part: string): void {
  reportUncaught(homeArgument(), part, project.version);
}
