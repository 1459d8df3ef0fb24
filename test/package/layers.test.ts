import { ESLint } from 'eslint';
import { describe, expect, it } from 'vitest';

const eslint = new ESLint({
  // The rule needs no types, and a program of all sources takes long to build.
  overrideConfig: [
    { files: ['**/*.ts'], languageOptions: { parserOptions: { projectService: false } } },
  ],
  ruleFilter: ({ ruleId }) => ruleId === 'layers/imports',
});

async function faultsOf(filePath: string, code: string): Promise<string[]> {
  const [result] = await eslint.lintText(code, { filePath });
  return result!.messages.map(({ message }) => message);
}

describe('what src may import', () => {
  it.each([
    ['core no format', 'src/core/errors.ts', "import '../ovni/layout.js';"],
    ['formats no other format', 'src/heph/layout.ts', "export * from '../ovni/layout.js';"],
    ['formats not the hook', 'src/ovni/layout.ts', "import '../node/run.js';"],
    ['the hook not the command', 'src/node/run/run.ts', "import '../../cli/main.js';"],
    ['write/ no reader', 'src/laplace/write/references.ts', "import '../read/check.js';"],
    ['the root of a format no writer', 'src/heph/layout.ts', "import './write/span.js';"],
    [
      'write/ recovery only where it is needed',
      'src/heph/write/span.ts',
      "const late = require('../read/recover.js');",
    ],
    [
      'write/ nothing but recovery late',
      'src/heph/write/span.ts',
      "export const f = () => require('../read/reader.js');",
    ],
  ])('%s', async (_, path, code) => {
    expect(await faultsOf(path, code)).toEqual([expect.stringContaining('must not import')]);
  });

  it.each([
    ['a format imports core', 'src/heph/layout.ts', "import '../core/errors.js';"],
    ['a reader imports the root', 'src/heph/read/check.ts', "import '../layout.js';"],
    ['the face imports all', 'src/heph/index.ts', "export * from './read/reader.js';"],
    [
      'recovery is loaded late',
      'src/heph/write/span.ts',
      "export const f = () => require('../read/recover.js');",
    ],
  ])('%s', async (_, path, code) => {
    expect(await faultsOf(path, code)).toEqual([]);
  });
});
