// The commands that work in every view. Ids are also what the system's menu sends.

import { compareAddress, newRunAddress } from '../app/addresses.ts';
import type { Command } from '../app/commands.svelte.ts';
import { missingRunCommands } from '../app/run-commands.ts';
import type { AppState } from '../app/state.svelte.ts';
import { addressOfTab } from '../views/hardware/frame.svelte.ts';
import { hardwareTabs, tabOf as hardwareTabOf } from '../views/hardware/tabs.ts';
import { helpPages } from '../views/help/help.ts';
import { helpAddress } from '../views/help/pages.ts';
import { runTabs, tabOf as runTabOf } from '../views/run/tabs.ts';

const importWords = ['import', 'load', 'add', 'dataset'];
const sizeWords = ['zoom', 'font', 'scale'];
const themeWords = ['theme', 'appearance', 'colours', 'colors', 'mode'];

export function appCommands(app: AppState): Command[] {
  const go = (hash: string) => (): void => app.router.go(hash);
  return [
    {
      id: 'open-file',
      title: 'Open file…',
      group: 'File',
      icon: 'drop',
      keys: ['Mod+O'],
      words: importWords,
      run: () => void app.open('file'),
    },
    {
      id: 'open-folder',
      title: 'Open folder…',
      group: 'File',
      icon: 'drop',
      keys: ['Mod+Shift+O'],
      words: importWords,
      run: () => void app.open('folder'),
    },
    {
      id: 'new-run',
      title: 'New run',
      group: 'File',
      icon: 'plus',
      keys: ['Mod+N'],
      words: ['train', 'start'],
      run: () => app.router.go(newRunAddress(app)),
    },
    {
      id: 'palette',
      title: 'Search or run a command',
      group: 'View',
      hidden: true,
      keys: ['Mod+K'],
      run: () => (app.overlay = 'palette'),
    },
    { id: 'go-datasets', title: 'Datasets', group: 'Go to', icon: 'table', keys: ['Mod+1'], run: go('#datasets') },
    { id: 'go-runs', title: 'Runs', group: 'Go to', icon: 'runs', keys: ['Mod+2'], run: go('#runs') },
    {
      id: 'go-queue',
      title: 'Queue',
      group: 'Go to',
      icon: 'queue',
      words: ['waiting', 'order', 'pause'],
      run: go('#queue'),
    },
    {
      id: 'go-compare',
      title: 'Compare',
      group: 'Go to',
      icon: 'compare',
      keys: ['Mod+3'],
      run: () => app.router.go(compareAddress(app)),
    },
    { id: 'go-hardware', title: 'Hardware', group: 'Go to', icon: 'chip', keys: ['Mod+4'], run: go('#hardware') },
    ...hardwareTabs.slice(1).map((tab): Command => ({
      id: `go-hardware-${tab.id}`,
      title: `Hardware: ${tab.label}`,
      group: 'Go to',
      icon: 'chip',
      words: ['hardware', ...tab.words],
      run: go(addressOfTab(tab)),
    })),
    {
      id: 'go-welcome',
      title: 'Welcome and samples',
      group: 'Go to',
      icon: 'table',
      keys: ['Mod+5'],
      run: go('#welcome'),
    },
    { id: 'settings', title: 'Settings', group: 'Go to', icon: 'settings', keys: ['Mod+,'], run: go('#settings') },
    {
      id: 'help',
      title: 'Help on this view',
      group: 'Help',
      icon: 'help',
      keys: ['F1'],
      run: () => {
        app.overlay = null;
        app.router.go(helpHere(app));
      },
    },
    ...helpPages.map(({ id, title }): Command => ({
      id: `help-${id}`,
      title: `Help: ${title}`,
      group: 'Help',
      icon: 'help',
      run: go(helpAddress(id)),
    })),
    {
      id: 'about',
      title: 'About Trainyard',
      group: 'Help',
      icon: 'help',
      words: ['version', 'diagnostics', 'crash', 'report', 'bug', 'where', 'privacy'],
      run: go('#about'),
    },
    { id: 'licences', title: 'Licences', group: 'Help', icon: 'help', run: go('#licences') },
    {
      id: 'shortcuts',
      title: 'Keyboard shortcuts',
      group: 'Help',
      icon: 'help',
      keys: ['?'],
      run: () => (app.overlay = 'shortcuts'),
    },
    {
      id: 'back',
      title: 'Back',
      group: 'Go to',
      icon: 'left',
      keys: ['Mod+[', 'Alt+Left'],
      unavailable: () => (app.router.canGoBack ? undefined : 'This is the first view'),
      run: () => app.router.back(),
    },
    {
      id: 'forward',
      title: 'Forward',
      group: 'Go to',
      icon: 'right',
      keys: ['Mod+]', 'Alt+Right'],
      unavailable: () => (app.router.canGoForward ? undefined : 'This is the last view'),
      run: () => app.router.forward(),
    },
    {
      id: 'sidebar',
      title: 'Show or hide the sidebar',
      group: 'View',
      icon: 'sidebar',
      keys: ['Mod+B'],
      run: () => (app.sidebarHidden = !app.sidebarHidden),
    },
    {
      id: 'theme',
      title: 'Switch light and dark',
      group: 'View',
      icon: 'theme',
      words: themeWords,
      run: () => app.theme.toggle(),
    },
    {
      id: 'theme-system',
      title: 'Light or dark as the system has it',
      group: 'View',
      icon: 'theme',
      words: themeWords,
      run: () => app.theme.choose('system'),
    },
    {
      id: 'larger',
      title: 'Larger text',
      group: 'View',
      icon: 'plus',
      keys: ['Mod++', 'Mod+='],
      words: sizeWords,
      run: () => app.theme.resize(1),
    },
    {
      id: 'smaller',
      title: 'Smaller text',
      group: 'View',
      icon: 'settings',
      keys: ['Mod+-'],
      words: sizeWords,
      run: () => app.theme.resize(-1),
    },
    {
      id: 'normal-size',
      title: 'Normal text size',
      group: 'View',
      icon: 'settings',
      keys: ['Mod+0'],
      words: [...sizeWords, 'reset'],
      run: () => app.theme.resize(0),
    },
    {
      id: 'undo',
      title: 'Undo',
      group: 'File',
      icon: 'restore',
      keys: ['Mod+Z'],
      unavailable: () => ((app.toasts.undoableSince ?? app.undo.last) ? undefined : 'Nothing to undo'),
      run: () => undo(app),
    },
    {
      id: 'redo',
      title: 'Redo',
      group: 'File',
      icon: 'again',
      keys: ['Mod+Shift+Z', 'Mod+Y'],
      unavailable: () => (app.undo.next === null ? 'Nothing to do again' : undefined),
      run: () => {
        app.announcer.say(`Done again: ${app.undo.next ?? ''}.`);
        app.undo.redo();
      },
    },
    { id: 'find', title: 'Search in this view', group: 'View', icon: 'search', keys: ['Mod+F'], run: focusSearch },
    {
      id: 'reload',
      title: 'Reload',
      group: 'View',
      icon: 'again',
      words: ['refresh', 'restart'],
      run: () => void app.service.reload(),
    },
    ...missingRunCommands(),
  ];
}

/** Help about what is in view: the page of the view, at the section of its tab. */
function helpHere({ router: { address } }: AppState): string {
  const { view, parts } = address;
  if (view === 'run') return helpAddress(view, runTabOf(parts[1], runTabs).label);
  if (view === 'hardware') return helpAddress(view, hardwareTabOf(parts[0]).label);
  return helpAddress(view);
}

/** Takes back what was done last: a step of the view, or what the newest note offers to undo. */
function undo(app: AppState): void {
  const { last } = app.undo;
  if (last === null || last.at < (app.toasts.undoableSince ?? -Infinity)) return app.toasts.undo();
  app.announcer.say(`Taken back: ${last.label}.`);
  app.undo.undo();
}

function focusSearch(): void {
  document.querySelector<HTMLInputElement>('main input[type=search]')?.focus();
}
