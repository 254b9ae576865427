// This app in the menu of a Linux desktop, for one account: for the archive and the AppImage, which no package manager installs. What a
// package brings lies beside the program (share/) and is copied into the account's data folder, leading to where the app is.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { AppService, SystemLink } from '../../engine/protocol/app.ts';
import type { Surroundings } from './command-plan.ts';
import { attempt, changeLink, quotable, realOf } from './system-link.ts';

export type MenuEntries = Pick<AppService, 'menuEntry' | 'addMenuEntry' | 'removeMenuEntry'>;

const entryFile = 'applications/trainyard.desktop';
const iconFile = 'icons/hicolor/scalable/apps/trainyard.svg';
const typesFile = 'mime/packages/trainyard.xml';
/** Desktops look again by themselves, and sooner when they are told (freedesktop desktop-file-utils, shared-mime-info). */
const told = [
  ['update-mime-database', 'mime'],
  ['update-desktop-database', 'applications'],
] as const;

export function createMenuEntry({ system, packaged, program, home, variables }: Surroundings): MenuEntries {
  const data = absolute(variables['XDG_DATA_HOME']) ?? path.join(home, '.local', 'share');
  const shared = (variables['XDG_DATA_DIRS'] || '/usr/local/share:/usr/share').split(':').filter(path.isAbsolute);
  const own = path.join(data, entryFile);
  const image = variables['APPIMAGE'];
  const source = (file: string): string => path.join(path.dirname(program), 'share', file);

  /** The entry as it leads to this copy. */
  const text = (): string =>
    entryLeadingTo(fs.readFileSync(source(entryFile), 'utf8'), image ?? program, path.join(data, iconFile));

  const look = async (): Promise<SystemLink> => {
    if (system !== 'linux' || !packaged) return { state: 'impossible', at: null, can: null, note: '' };
    const installed = shared
      .map((folder) => path.join(folder, entryFile))
      .find((file) => leadsTo(readText(file), program));
    if (installed !== undefined) return { state: 'linked', at: installed, can: null, note: '' };
    const found = readText(own);
    if (found === null) return { state: 'absent', at: own, can: 'link', note: '' };
    if (found === text()) return { state: 'linked', at: own, can: 'unlink', note: '' };
    return /^Name=Trainyard$/m.test(found)
      ? {
          state: 'other',
          at: own,
          can: 'link',
          note: `${own} leads to another copy of Trainyard, or to none any more.`,
        }
      : { state: 'other', at: own, can: null, note: `${own} is another program’s. Remove it, or rename it.` };
  };

  const change = (wish: 'link' | 'unlink', act: () => void): Promise<SystemLink> =>
    changeLink({
      wish,
      look,
      act: async () => {
        act();
        for (const [tool, folder] of told) await tell(tool, path.join(data, folder));
      },
      refusal: ['input.menu_entry', 'The menu cannot be changed from here.'],
    });

  const put = (file: string, content: string | Uint8Array): void => {
    fs.mkdirSync(path.dirname(path.join(data, file)), { recursive: true });
    fs.writeFileSync(path.join(data, file), content);
  };

  return {
    menuEntry: look,
    addMenuEntry: () =>
      change('link', () => {
        for (const file of [iconFile, typesFile]) put(file, fs.readFileSync(source(file)));
        put(entryFile, text());
      }),
    removeMenuEntry: () =>
      change('unlink', () => {
        for (const file of [entryFile, typesFile, iconFile]) fs.rmSync(path.join(data, file), { force: true });
      }),
  };
}

/**
 * A package's entry, made to lead to a program anywhere (freedesktop Desktop Entry 1.5: Exec is quoted, then escaped as any text is).
 * GLib looks for the program before it reads `%%` as `%`, and drops an entry whose program it does not find: `nice` starts such a one.
 */
export function entryLeadingTo(entry: string, program: string, icon: string): string {
  const escaped = (value: string): string => value.replaceAll('\\', '\\\\');
  const starter = program.includes('%') ? 'nice -n 0 ' : '';
  const quoted = `${starter}"${quotable(program).replaceAll('%', '%%')}"`;
  return entry
    .replace(/^Exec=\S+/m, () => `TryExec=${escaped(program)}\nExec=${escaped(quoted)}`)
    .replace(/^Icon=.*$/m, () => `Icon=${escaped(icon)}`);
}

/** Whether what an entry starts is this program: a package's path has nothing to quote. */
function leadsTo(entry: string | null, program: string): boolean {
  const started = /^Exec=(\S+)/m.exec(entry ?? '')?.[1];
  return started !== undefined && realOf(started) === realOf(program);
}

const readText = (file: string): string | null => attempt(() => fs.readFileSync(file, 'utf8'));

const absolute = (folder: string | undefined): string | undefined =>
  folder !== undefined && path.isAbsolute(folder) ? folder : undefined;

/** A tool that is not there, or fails, leaves the desktop to find out by itself. */
function tell(tool: string, folder: string): Promise<void> {
  if (!fs.existsSync(folder)) return Promise.resolve();
  return new Promise((resolve) => {
    const child = spawn(tool, [folder], { stdio: 'ignore', timeout: 10_000 });
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
}
