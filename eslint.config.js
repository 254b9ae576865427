// Rules that find mistakes; how code looks is prettier's business, and what imports what is tests/layers.test.ts's.

import svelte from 'eslint-plugin-svelte';
import tseslint from 'typescript-eslint';
import { noWordLookup } from './scripts/lint-word-lookup.js';
import svelteConfig from './svelte.config.js';

const typed = {
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
};

export default tseslint.config(
  {
    // AssemblyScript looks like TypeScript and is another language; its compiler checks it.
    ignores: [
      ...['build', 'dist', 'node_modules', 'test-results'],
      ...['kernels/*/cpu.ts', 'kernels/shared', 'kernels/assembly', 'engine/backends/cpu/assembly'],
    ],
  },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strict],
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      eqeqeq: 'error',
      'prefer-const': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Export by name: a name stays the same everywhere.' },
        {
          selector: "CallExpression[callee.property.name='waitForTimeout']",
          message: 'Wait for what has to come about, not for time: a busy machine needs more of it.',
        },
      ],
    },
  },
  {
    files: ['engine/**/*.ts', 'kernels/**/*.ts', 'electron/**/*.ts'],
    languageOptions: {
      parserOptions: { project: ['./tsconfig.json', './tsconfig.preload.json'], tsconfigRootDir: import.meta.dirname },
    },
    rules: typed,
  },
  {
    // Runs in the app's engine too, which may be older than Node's.
    files: ['engine/**/*.ts', 'kernels/**/*.ts', 'electron/**/*.ts', 'renderer/**/*.{ts,svelte}'],
    rules: {
      'no-restricted-properties': [
        'error',
        ...[
          ['Map', 'groupBy'],
          ['Object', 'groupBy'],
          ['Array', 'fromAsync'],
          ['Promise', 'withResolvers'],
          ['Promise', 'try'],
        ].map(([object, property]) => ({ object, property, message: 'V8 11 (Electron 25) does not have it.' })),
      ],
    },
  },
  {
    // Where a person's words are looked up: columns, classes, folders, options. In the rest of the engine tensors and slots
    // have names of our own.
    files: ['engine/{data,runs,history,protocol,model}/**/*.ts', 'electron/**/*.ts', 'renderer/**/*.{ts,svelte}'],
    plugins: { trainyard: { rules: { 'no-word-lookup': noWordLookup } } },
    rules: { 'trainyard/no-word-lookup': 'error' },
  },
  {
    files: ['*.config.ts', '**/*.config.ts', '**/*.d.ts', 'tests/app/flaky-reporter.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  ...svelte.configs.recommended,
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    // Maps and sets that live within one call need no reactivity; those that are state are SvelteMap and SvelteSet.
    rules: { 'svelte/prefer-svelte-reactivity': 'off' },
    languageOptions: { parserOptions: { parser: tseslint.parser, extraFileExtensions: ['.svelte'], svelteConfig } },
  },
  {
    files: ['renderer/**/*.{ts,svelte}'],
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.web.json'],
        tsconfigRootDir: import.meta.dirname,
        extraFileExtensions: ['.svelte'],
      },
    },
  },
);
