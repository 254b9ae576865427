// The pages as the window gets them: the built files and nothing else, each with a strict content-security policy. Nothing
// here needs Electron.

import fs from 'node:fs/promises';
import { ownValue } from '../../engine/protocol/own.ts';
import path from 'node:path';

export const origin = 'app://trainyard';

/** Nothing from elsewhere, nothing inline, no eval. Pictures may be made in the page. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};

/**
 * Answers a request of a page with a file of `folder`, or with 404. There is no cross-origin-opener-policy: no page opens another
 * one, and with `same-origin` Chromium 114 brings the main process down when a page asks for about:srcdoc.
 */
export async function answerPage(method: string, address: string, folder: string): Promise<Response> {
  const file = fileOf(address, folder);
  const type = file === null ? undefined : ownValue(types, path.extname(file));
  if (method !== 'GET' || file === null || type === undefined || !(await isFile(file))) {
    return new Response('Not found', { status: 404 });
  }
  return new Response(await fs.readFile(file), {
    headers: {
      'content-type': type,
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'cross-origin-embedder-policy': 'require-corp',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-cache',
    },
  });
}

/** The file an address stands for, or null if it leads out of the folder. */
export function fileOf(address: string, folder: string): string | null {
  const url = new URL(address);
  if (`${url.protocol}//${url.host}` !== origin) return null;
  const file = path.resolve(folder, `.${decodeURIComponent(url.pathname)}`);
  return file.startsWith(folder + path.sep) ? file : null;
}

async function isFile(file: string): Promise<boolean> {
  return fs.stat(file).then(
    (stat) => stat.isFile(),
    () => false,
  );
}
