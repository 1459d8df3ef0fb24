import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'tracewright-layers-'));
writeFileSync(
  join(directory, '.oxlintrc.json'),
  JSON.stringify({
    jsPlugins: [join(root, 'scripts/lint-rules.mjs')],
    categories: { correctness: 'off' },
    rules: { 'house/imports': 'error' },
  }),
);

afterAll(() => {
  rmSync(directory, { recursive: true });
});

/** What the linter says of a file that exists only here. */
function faultsOf(path: string, code: string): string[] {
  const file = join(directory, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, code);
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/oxlint/bin/oxlint'), '--format', 'json', path],
    { cwd: directory, encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { message: string }[] };
  return diagnostics.map(({ message }) => message);
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
    ['a room no later one', 'src/look/report/trees/tree.ts', "import '../slow/slow-traces.js';"],
    ['a room not the report', 'src/look/report/slow/slow-traces.ts', "import '../report.js';"],
    ['serving no building', 'src/look/index/serve/window.ts', "import '../build/parts.js';"],
  ])('%s', (_, path, code) => {
    expect(faultsOf(path, code)).toEqual([expect.stringContaining('must not import')]);
  });

  it('the native object only through core', () => {
    const faults = faultsOf('src/heph/layout.ts', "import '../core/addon.js';");
    expect(faults).toEqual([expect.stringContaining('belongs to src/core')]);
  });

  it.each([
    ['a format imports core', 'src/heph/layout.ts', "import '../core/errors.js';"],
    ['a reader imports the root', 'src/heph/read/check.ts', "import '../layout.js';"],
    ['the face imports all', 'src/heph/index.ts', "export * from './read/reader.js';"],
    ['a room imports an earlier one', 'src/look/report/slow/a.ts', "import '../trees/tree.js';"],
    [
      'recovery is loaded late',
      'src/heph/write/span.ts',
      "export const f = () => require('../read/recover.js');",
    ],
  ])('%s', (_, path, code) => {
    expect(faultsOf(path, code)).toEqual([]);
  });
});
