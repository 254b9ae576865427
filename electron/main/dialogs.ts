// The system's open and save dialogs, the only way by which anything is read from or written to a place the person names.

import path from 'node:path';
import { app, dialog, type BrowserWindow } from 'electron';
import { safeName, type Dialogs } from './saving.ts';

const titles = { file: 'Open a table', folder: 'Open a folder of images', backup: 'Open a backup or runs' } as const;
const tables = ['csv', 'tsv', 'txt', 'parquet', 'jsonl', 'ndjson', 'json', 'gz'];

export function createDialogs(window: () => BrowserWindow): Dialogs {
  return {
    async open(kind) {
      const { canceled, filePaths } = await dialog.showOpenDialog(window(), {
        title: titles[kind],
        properties: [kind === 'folder' ? 'openDirectory' : 'openFile'],
        filters:
          kind !== 'folder'
            ? [
                kind === 'file'
                  ? { name: 'Tables', extensions: tables }
                  : { name: 'Backups and runs', extensions: ['trainyard', 'tar', 'backup', 'runs'] },
                { name: 'All files', extensions: ['*'] },
              ]
            : [],
      });
      return canceled || filePaths.length === 0 ? null : filePaths[0];
    },
    async askWhere(suggested) {
      const folder = app.getPath('documents');
      const { canceled, filePath } = await dialog.showSaveDialog(window(), {
        defaultPath: path.join(folder, safeName(suggested)),
      });
      return canceled || !filePath ? null : filePath;
    },
  };
}
