// The command `trainyard` in the path of terminals, for this account and without an administrator's rights: looked at, put there and taken
// away, as Settings asks. Where it can stand is command-plan.ts's to say.

import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { AppService, SystemLink } from '../../engine/protocol/app.ts';
import { InputError } from '../../engine/protocol/errors.ts';
import {
  commandState,
  commandWay,
  foldersOfPath,
  scriptCalling,
  type CommandWay,
  type Standing,
  type Surroundings,
} from './command-plan.ts';
import { attempt, changeLink } from './system-link.ts';

export type CommandLinks = Pick<AppService, 'commandLink' | 'linkCommand' | 'unlinkCommand'>;

/** What linking and unlinking need on one kind of system. */
interface Hands {
  look(): Promise<SystemLink>;
  link(): Promise<void>;
  unlink(): Promise<void>;
}

export function createCommandLink(surroundings: Surroundings): CommandLinks {
  const way = commandWay(surroundings);
  const hands =
    way.kind === 'variable' ? byVariable(way) : way.kind === 'impossible' ? null : byFile(way, surroundings);
  const look = async (): Promise<SystemLink> =>
    hands ? hands.look() : { state: 'impossible', at: null, can: null, note: way.kind === 'impossible' ? way.why : '' };
  const change = (wish: 'link' | 'unlink'): Promise<SystemLink> =>
    changeLink({
      wish,
      look,
      act: async () => hands?.[wish](),
      refusal: ['input.command_link', 'The command cannot be changed from here.'],
    });
  return { commandLink: look, linkCommand: () => change('link'), unlinkCommand: () => change('unlink') };
}

function byFile(way: Extract<CommandWay, { kind: 'link' | 'copy' }>, surroundings: Surroundings): Hands {
  const inPath = foldersOfPath(surroundings);
  const fileIn = (folder: string): string => path.join(folder, 'trainyard');
  /** Of a script that is copied; null: it is linked to. */
  const text = (): string | null =>
    way.kind === 'copy' ? scriptCalling(fs.readFileSync(way.script, 'utf8'), way.program) : null;
  /** The last is the account's own, and made where it is not there. */
  const chosen = (): string =>
    way.folders.slice(0, -1).find((folder) => inPath.includes(folder) && isWritable(folder)) ??
    way.folders[way.folders.length - 1];
  const standing = (): readonly Standing[] =>
    [...new Set([...inPath, ...way.folders])].flatMap((folder) => {
      const whose = whoseFile(fileIn(folder), way.script, text());
      return whose === null ? [] : [{ folder, whose }];
    });
  return {
    look: async () => commandState(way, { standing: standing(), folder: chosen(), inPath }),
    async link() {
      const folder = chosen();
      fs.mkdirSync(folder, { recursive: true });
      // Only what stands for another copy of Trainyard is replaced: see `commandState`.
      fs.rmSync(fileIn(folder), { force: true });
      const copied = text();
      if (copied === null) fs.symlinkSync(way.script, fileIn(folder));
      else fs.writeFileSync(fileIn(folder), copied, { mode: 0o755, flag: 'wx' });
    },
    async unlink() {
      const own = standing().find(({ folder, whose }) => whose === 'own' && way.folders.includes(folder));
      if (own) fs.rmSync(fileIn(own.folder));
    },
  };
}

/** @param text  of a script that has been copied; null: it is linked to */
function whoseFile(file: string, script: string, text: string | null): Standing['whose'] | null {
  const kept = attempt(() => fs.lstatSync(file));
  // Folders of the path that this account may not look into hold nothing for it.
  if (kept === null) return null;
  const real = attempt(() => fs.realpathSync(file));
  if (real !== null && real === attempt(() => fs.realpathSync(script))) return 'own';
  if (kept.isSymbolicLink()) return /\/bin\/trainyard$/.test(fs.readlinkSync(file)) ? 'former' : 'foreign';
  const found = kept.isFile() && kept.size < 10_000 ? attempt(() => fs.readFileSync(file, 'utf8')) : null;
  if (found === null) return 'foreign';
  if (found === text) return 'own';
  return found.includes('# `trainyard COMMAND …`') ? 'former' : 'foreign';
}

const isWritable = (folder: string): boolean =>
  attempt(() => (fs.accessSync(folder, fs.constants.W_OK), true)) ?? false;

function byVariable({ folder, tool }: Extract<CommandWay, { kind: 'variable' }>): Hands {
  const at = path.win32.join(folder, 'trainyard.cmd');
  const call = (what: 'show' | 'add' | 'remove'): Promise<string> =>
    outputOf('powershell.exe', ['-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass', '-File', tool, what]);
  return {
    async look() {
      const linked = (await call('show')).trim() === 'yes';
      const note = linked ? 'Terminals that are open already have it once they are opened anew.' : '';
      return { state: linked ? 'linked' : 'absent', at, can: linked ? 'unlink' : 'link', note };
    },
    link: async () => void (await call('add')),
    unlink: async () => void (await call('remove')),
  };
}

function outputOf(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
    let [out, said] = ['', ''];
    child.stdout.on('data', (data: Buffer) => (out += data.toString()));
    child.stderr.on('data', (data: Buffer) => (said += data.toString()));
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve(out);
      else
        reject(
          new InputError(
            'input.command_link',
            `PATH could not be read or changed: ${said.trim().slice(0, 300)}`,
            'Try again.',
          ),
        );
    });
  });
}
