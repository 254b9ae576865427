// The pages as the window has them: bundled, so that Help needs neither files nor a network.

import { readPages } from './pages.ts';

const files = import.meta.glob<string>('./pages/*.md', { query: '?raw', import: 'default', eager: true });

export const helpPages = readPages(
  Object.fromEntries(Object.entries(files).map(([file, text]) => [file.replace(/^.*\/|\.md$/g, ''), text])),
);
