// Where the command `trainyard` can stand so that a terminal finds it, by the system and the kind of package: what is known without looking
// at a disk. command-link.ts looks, and does it.

import path from 'node:path';
import type { SystemLink } from '../../engine/protocol/app.ts';
import { quotable } from './system-link.ts';

export interface Surroundings {
  readonly system: NodeJS.Platform;
  /** Installed, not run from its sources. */
  readonly packaged: boolean;
  /** The app's own program. */
  readonly program: string;
  /** Electron's folder of resources. */
  readonly resources: string;
  /** The account's home folder. */
  readonly home: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
}

/** How the command comes into the path. */
export type CommandWay =
  | { readonly kind: 'impossible'; readonly why: string }
  /** A link to `script` in the first of `folders` that can be used. */
  | { readonly kind: 'link'; readonly script: string; readonly folders: readonly string[] }
  /** The AppImage lies somewhere else each time it runs: a copy of `script` in which `program` is called. */
  | { readonly kind: 'copy'; readonly script: string; readonly program: string; readonly folders: readonly string[] }
  /** Windows: `folder` is added to the account's PATH by `tool`. */
  | { readonly kind: 'variable'; readonly folder: string; readonly tool: string };

export function commandWay({ system, packaged, program, resources, home, variables }: Surroundings): CommandWay {
  const { join, dirname } = pathsOf(system);
  const impossible = (why: string): CommandWay => ({ kind: 'impossible', why });
  if (!packaged)
    return impossible('Trainyard runs from its sources: “npm run -s trainyard -- COMMAND” is the command there.');
  if (system === 'win32') {
    if (variables['PORTABLE_EXECUTABLE_FILE'])
      return impossible('The portable Trainyard is unpacked anew at every start: install it to have the command.');
    const folder = join(dirname(program), 'bin');
    return { kind: 'variable', folder, tool: join(folder, 'path.ps1') };
  }
  const own = join(home, '.local', 'bin');
  if (system === 'darwin') {
    if (/\/AppTranslocation\/|^\/Volumes\//.test(program))
      return impossible('Trainyard has not been moved to Applications yet: move it there, and start it again.');
    return { kind: 'link', script: join(resources, 'bin', 'trainyard'), folders: ['/usr/local/bin', own] };
  }
  if (system !== 'linux') return impossible(`Nobody has tried the command on this system (${system}) yet.`);
  const script = join(dirname(program), 'bin', 'trainyard');
  const image = variables['APPIMAGE'];
  return image ? { kind: 'copy', script, program: image, folders: [own] } : { kind: 'link', script, folders: [own] };
}

/** The script of the command, calling another program than the one it lies beside. */
export function scriptCalling(script: string, program: string): string {
  return script.replace('"$here/../trainyard"', () => `'${program.replaceAll("'", `'\\''`)}'`);
}

/** The folders that a terminal looks in, in their order. */
export function foldersOfPath({ system, variables }: Pick<Surroundings, 'system' | 'variables'>): readonly string[] {
  const { delimiter, isAbsolute } = pathsOf(system);
  return (variables['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
}

/**
 * A file called like the command. `own`: it leads to this app; `former`: to a Trainyard that is elsewhere or no more; `foreign`: another
 * program's.
 */
export interface Standing {
  readonly folder: string;
  readonly whose: 'own' | 'former' | 'foreign';
}

/**
 * What people are told.
 * @param standing  in the order of the path, then those of `folders` that are not in it
 * @param folder  where it would be put
 */
export function commandState(
  { folders }: { readonly folders: readonly string[] },
  { standing, folder, inPath }: { standing: readonly Standing[]; folder: string; inPath: readonly string[] },
): SystemLink {
  const file = (where: string): string => `${where}/trainyard`;
  const found = standing[0] as Standing | undefined;
  if (found?.whose === 'own') {
    const removable = folders.includes(found.folder);
    const note = inPath.includes(found.folder) ? '' : hintOf(found.folder);
    return { state: 'linked', at: file(found.folder), can: removable ? 'unlink' : null, note };
  }
  const there = standing.find((one) => one.folder === folder);
  if (found === undefined)
    return { state: 'absent', at: file(folder), can: 'link', note: inPath.includes(folder) ? '' : hintOf(folder) };
  const blocked = there?.whose === 'foreign' || found.folder !== folder;
  const what = found.whose === 'former' ? 'belongs to another copy of Trainyard' : 'is another program’s';
  const note = blocked
    ? `${file(found.folder)} ${what}. Remove it, or rename it, and look again.`
    : `${file(folder)} ${what}: its place is taken.`;
  return { state: 'other', at: file(found.folder), can: blocked ? null : 'link', note };
}

function hintOf(folder: string): string {
  return `${folder} is not in the PATH of this session. Terminals that are opened after the next login may have it; if not, add this line to your shell’s profile: export PATH="${quotable(folder)}:$PATH"`;
}

function pathsOf(system: NodeJS.Platform): path.PlatformPath {
  return system === 'win32' ? path.win32 : path.posix;
}
