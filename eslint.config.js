import js from '@eslint/js';
import tseslint from 'typescript-eslint';

// The rules of types once more, for editors. What `npm test` runs is .oxlintrc.json, which has all rules.
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
    // Emitters are functions made from text; only this file makes them.
    files: ['src/core/ring/compile.ts'],
    rules: { '@typescript-eslint/no-implied-eval': 'off' },
  },
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
