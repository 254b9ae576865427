// What is bundled, into build/: `node` the command line and what it starts (ES modules); `main`, `preload` and `hosts`, the
// utility processes (CommonJS: sandboxed preloads and older Electrons know nothing else); `renderer` the windows' pages.
// `vite build --mode NAME` builds one; scripts/setup.mjs builds what is due.

import fs from 'node:fs';
import path from 'node:path';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin, type UserConfig } from 'vite';

const root = import.meta.dirname;
/** Packages with native parts stay outside the bundles; of DuckDB its native part alone, since 180 files of its own take each process 40 ms to load. */
const native = ['electron', '@duckdb/node-bindings', '@napi-rs/image', 'better-sqlite3', 'webgpu', 'onnxruntime-web'];

/** Bundles of the packaged app: not those of the command line and of tests. */
const shipped = ['build/electron', 'build/hosts', 'build/renderer'];

type Format = 'es' | 'cjs';
const extension: Record<Format, string> = { es: 'js', cjs: 'cjs' };

export default defineConfig(({ mode }) => {
  switch (mode) {
    case 'node':
      return nodeBundle('build/node', 'es', {
        trainyard: 'electron/cli/main.ts',
        'store-host': 'electron/hosts/store.ts',
      });
    case 'main':
      return nodeBundle('build/electron', 'cjs', { main: 'electron/main/main.ts' });
    case 'preload':
      return nodeBundle('build/electron', 'cjs', { preload: 'electron/preload/preload.ts' });
    case 'hosts':
      return nodeBundle('build/hosts', 'cjs', {
        cpu: 'electron/hosts/cpu.ts',
        onnx: 'electron/hosts/onnx.ts',
        data: 'electron/hosts/data.ts',
        store: 'electron/hosts/store.ts',
        // The command line of the installed app, which its main process runs.
        command: 'electron/cli/program.ts',
        trainer: 'electron/cli/trainer.ts',
        'stand-in': 'electron/hosts/stand-in.ts',
      });
    case 'tests':
      // What runs inside Electron without a window (tests/unit/engine-in-electron.test.ts).
      return nodeBundle('build/tests', 'cjs', { parity: 'tests/parity/cpu.test.ts' });
    case 'bench':
      // As the app runs it: loaded from sources a process strips their types first, for a tenth of what is timed.
      return nodeBundle('build/bench', 'es', { import: 'tests/bench/import.ts' });
    default:
      return renderer();
  }
});

/** A warning would be printed to everybody who starts the program from a fresh clone: none is let in. */
function refuse({ message }: { readonly message: string }): never {
  throw new Error(message);
}

/** How long a busy machine took for a plugin is no fault of the bundle. */
const checks = { bundlerTimings: false };

/** Bundles for Node: one flat folder, so that `new URL('./x', import.meta.url)` means the same in every chunk. */
function nodeBundle(outDir: string, format: Format, entries: Record<string, string>): UserConfig {
  const input = Object.fromEntries(Object.entries(entries).filter(([, file]) => fs.existsSync(path.join(root, file))));
  return {
    root,
    plugins: [sourceUrls(path.join(root, outDir), extension[format]), ...packageNames(outDir)],
    ssr: { noExternal: true, external: native },
    build: {
      ssr: true,
      target: 'node18',
      minify: false,
      outDir: path.join(root, outDir),
      emptyOutDir: false,
      rolldownOptions: {
        input,
        external: native,
        checks,
        onwarn: refuse,
        output: {
          format,
          entryFileNames: `[name].${extension[format]}`,
          chunkFileNames: `chunk-[name].${extension[format]}`,
          // Comments and spaces are half of what the code takes; names stay, so that a trace can be read.
          minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
        },
      },
    },
  };
}

/** The pages: plain files with relative addresses, no inline scripts (the content-security policy forbids them). */
function renderer(): UserConfig {
  const pages = { index: 'renderer/index.html', gpu: 'renderer/gpu/index.html' };
  const input = Object.fromEntries(Object.entries(pages).filter(([, file]) => fs.existsSync(path.join(root, file))));
  return {
    root: path.join(root, 'renderer'),
    base: './',
    plugins: [svelte({ configFile: path.join(root, 'svelte.config.js') }), ...packageNames('build/renderer')],
    build: {
      target: 'chrome114',
      outDir: path.join(root, 'build/renderer'),
      emptyOutDir: true,
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0,
      chunkSizeWarningLimit: 2000,
      rolldownOptions: {
        input: Object.fromEntries(Object.entries(input).map(([k, v]) => [k, path.join(root, v)])),
        checks,
        onwarn: refuse,
      },
    },
  };
}

/**
 * Keeps `new URL('./file', import.meta.url)` true after bundling: a TypeScript file (a worker) becomes an entry of its own,
 * any other path is rewritten to lead from the bundle to the same file.
 */
function sourceUrls(outDir: string, suffix: string): Plugin {
  const pattern = /new URL\(\s*(['"])(\.{1,2}\/[^'"]*)\1\s*,\s*import\.meta\.url\s*,?\s*\)/g;
  return {
    name: 'trainyard:source-urls',
    enforce: 'pre',
    transform(code, id) {
      if (!code.includes('import.meta.url') || id.includes('node_modules')) return null;
      const result = code.replace(pattern, (_match, _quote: string, relative: string) => {
        const file = path.resolve(path.dirname(id), relative);
        let target = path.relative(outDir, file).replaceAll('\\', '/');
        if (relative.endsWith('/')) target += '/';
        if (file.endsWith('.ts')) {
          const name = `${path.basename(path.dirname(file))}-${path.basename(file, '.ts')}.${suffix}`;
          this.emitFile({ type: 'chunk', id: file, fileName: name });
          target = `./${name}`;
        }
        return `new URL(${JSON.stringify(target)}, import.meta.url)`;
      });
      return result === code ? null : { code: result, map: null };
    },
  };
}

/** Notes the packages whose code stands in a bundle, for the licences of what is shipped (scripts/notices.mjs). */
function packageNames(outDir: string): Plugin[] {
  if (!shipped.includes(outDir)) return [];
  const owner = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/;
  const helpers = /^\0(rolldown|vite)\//;
  return [
    {
      name: 'trainyard:package-names',
      generateBundle(_options, bundle) {
        const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
        const names = modules.flatMap((id) => (owner.exec(id.replaceAll('\\', '/')) ?? helpers.exec(id))?.[1] ?? []);
        const folder = path.join(root, 'build/.packages');
        fs.mkdirSync(folder, { recursive: true });
        const entry = Object.values(bundle).find((file) => file.type === 'chunk' && file.isEntry)?.name ?? 'none';
        fs.writeFileSync(
          path.join(folder, `${path.basename(outDir)}-${entry}.json`),
          JSON.stringify([...new Set(names)].sort()),
        );
      },
    },
  ];
}
