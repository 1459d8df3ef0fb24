import js from '@eslint/js';
import tseslint from 'typescript-eslint';
import layers from './scripts/eslint-layers.mjs';
import words from './scripts/eslint-words.mjs';
import { FORMATS } from './scripts/package-layout.mjs';

const RECORDER = ['core', ...FORMATS];

/** What each folder of src may import besides itself. Nothing imports upward. */
const LAYERS = {
  core: [],
  // What a format offers to those who read traces of any format: read/ alone imports it.
  rows: ['core'],
  ...Object.fromEntries(FORMATS.map((format) => [format, ['core', 'rows']])),
  spans: ['core', 'rows', 'heph'],
  otel: ['core', 'spans'],
  libraries: ['core', 'spans'],
  // Finds traces of any format, and shows spans as what they are.
  traces: [...RECORDER, 'rows', 'spans'],
  // The hook.
  node: [...RECORDER, 'spans', 'otel', 'libraries'],
  // Index and report: readers only.
  look: [...RECORDER, 'rows', 'spans', 'traces'],
  // What other programs read: of readers' rows and spans, and look's conditions.
  export: ['core', 'rows', 'spans', 'traces', 'look'],
  // Sends what is recorded: readers and encoders only.
  ship: ['core', 'heph', 'spans', 'export'],
  // The page of `tracewright view`, in a browser: what its server sends, and nothing of Node.
  page: ['look'],
  cli: [...RECORDER, 'rows', 'traces', 'spans', 'node', 'look', 'export', 'ship'],
};

/** Rooms of src/look/index: each imports only those before it. Building and serving know nothing of each other. */
const INDEX_ROOMS = {
  parts: ['sources', 'cache', 'build', 'serve'],
  sources: ['cache', 'build', 'serve'],
  cache: ['build', 'serve'],
  build: ['serve'],
  serve: ['cache', 'build'],
};

/** Rooms of src/look/report, bottom first: each imports only those before it. */
const REPORT_ROOMS = [
  'shape',
  'measures',
  'names',
  'recording',
  'threads',
  'trees',
  'groups',
  'errors',
  'slow',
  'mpi',
  'print',
];

/** Folders of src in which nothing is called a place any more, and the files of them in which something still is. */
const NAMED = [
  'cli',
  'core',
  'dumpi',
  'export',
  'heph',
  'laplace',
  'libraries',
  'look',
  'node',
  'otel',
  'ovni',
  'page',
  'rows',
  'ship',
  'spans',
];
const NOT_NAMED = ['core/native-{core,ring}.ts', 'spans/keep/waiting-traces.ts'];

export default tseslint.config(
  { ignores: ['dist', 'build', 'docs/reference', 'prebuilds', 'traces', 'coverage'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked.map((config) => ({ ...config, files: ['**/*.{ts,tsx}'] })),
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      // `require('./x.js') as typeof import('./x.js')` loads another file of the package late.
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/no-require-imports': 'off',
      // The encoders index typed arrays inside bounds they have just checked.
      '@typescript-eslint/no-non-null-assertion': 'off',
      // A sixth of the time of all rules, and nothing to find: there are no enums, and the compiler itself
      // distinguishes classes with private fields.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-enum-comparison': 'off',
      // Of a property V8 does not know that it is a boolean: `if (on)` compares it with all that is false, `on === true`
      // with one thing. On the hot path each is a line of the cache.
      '@typescript-eslint/no-unnecessary-boolean-literal-compare': 'off',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
    },
  },
  {
    files: ['src/**/*.{ts,tsx}'],
    plugins: { layers },
    rules: { 'layers/imports': ['error', { layers: LAYERS, formats: FORMATS }] },
  },
  {
    files: NAMED.map((folder) => `src/${folder}/**/*.{ts,tsx}`),
    ignores: NOT_NAMED.map((files) => `src/${files}`),
    plugins: { words },
    rules: { 'words/place': 'error' },
  },
  {
    // Emitters are functions made from text; only this file makes them.
    files: ['src/core/ring/compile.ts'],
    rules: { '@typescript-eslint/no-implied-eval': 'off' },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/core/**'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: ['**/core/addon.js', '**/core/load-addon.js'],
              message:
                'The native object belongs to src/core, which has a typed file for each subject.',
            },
          ],
        },
      ],
    },
  },
  {
    files: ['src/libraries/**/*.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector: 'ObjectExpression > Property[computed=true]',
          message: 'V8 is slow with computed names: see engine/attribute-names.ts.',
        },
      ],
    },
  },
  ...Object.entries(INDEX_ROOMS).map(([room, later]) => ({
    files: [`src/look/index/${room}/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: [{ group: later.map((each) => `../${each}/*`), message: 'A later room.' }] },
      ],
    },
  })),
  ...REPORT_ROOMS.slice(0, -1).map((room, at) => ({
    files: [`src/look/report/${room}/*.ts`],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              group: [...REPORT_ROOMS.slice(at + 1).map((each) => `../${each}/*`), '../report.js'],
              message: 'A later room.',
            },
          ],
        },
      ],
    },
  })),
  {
    files: ['**/*.js', '**/*.mjs', '**/*.cjs'],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        fetch: 'readonly',
        Buffer: 'readonly',
        URL: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        setImmediate: 'readonly',
        setInterval: 'readonly',
        URLSearchParams: 'readonly',
        performance: 'readonly',
      },
    },
  },
  {
    // Programs of others use all that Node has.
    files: ['test/programs/**'],
    languageOptions: {
      globals: Object.fromEntries(
        Object.getOwnPropertyNames(globalThis).map((name) => [name, 'readonly']),
      ),
    },
  },
  {
    // What they hand to the browser runs there.
    files: [
      'bench/view.mjs',
      'bench/view-answers.mjs',
      'bench/view-live.mjs',
      'scripts/screenshots.mjs',
    ],
    languageOptions: {
      globals: {
        document: 'readonly',
        location: 'readonly',
        sessionStorage: 'readonly',
        requestAnimationFrame: 'readonly',
        AbortController: 'readonly',
        TextDecoderStream: 'readonly',
        WheelEvent: 'readonly',
      },
    },
  },
);
