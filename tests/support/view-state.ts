// The window's own state classes (*.svelte.ts) as they are, compiled for a place without a page.

import fs from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath } from 'node:url';
import { compileModule } from 'svelte/compiler';

registerHooks({
  load(url, context, next) {
    if (!url.endsWith('.svelte.ts')) return next(url, context);
    const code = stripTypeScriptTypes(fs.readFileSync(fileURLToPath(url), 'utf8'));
    const { js } = compileModule(code, { generate: 'server', filename: url });
    return { format: 'module', shortCircuit: true, source: js.code };
  },
});

/** A new one of the class `name` in `file` of `renderer/`. Its own types know a page: whoever asks says what is asked of it. */
export async function viewState(file: string, name: string, ...parts: readonly unknown[]): Promise<unknown> {
  const classes = (await import(new URL(`../../renderer/${file}`, import.meta.url).href)) as Record<
    string,
    new (...parts: readonly unknown[]) => unknown
  >;
  return new classes[name](...parts);
}
