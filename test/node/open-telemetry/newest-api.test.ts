import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TracedProcess } from '../traced-process.js';
import { hephFiles } from '../written-traces.js';
import { dependencies, install, place, recordedIn, treeOf } from './installed.js';

const tracewright = new URL('../../../dist/', import.meta.url).href;

/** Runs the program with version 1.10 of the API, which has a copy for `import` and one for `require`. */
async function run(provider: string) {
  const directory = install('newest-api', ['newest-api.mjs'], dependencies('@opentelemetry/api'));
  const api = join(directory, 'node_modules', '@opentelemetry', 'api');
  cpSync(join(place!, 'node_modules', 'api-1.10'), api, { recursive: true });
  const program = new TracedProcess(join(directory, 'newest-api.mjs'), {
    hook: provider === 'register' ? 'none' : '--import',
    cwd: directory,
    env: {
      TRACEWRIGHT_CONTEXT: 'on',
      TRACEWRIGHT_TEST_PACKAGE: tracewright,
      TRACEWRIGHT_TEST_PROVIDER: provider,
    },
  });
  if (provider === 'register') mkdirSync(join(program.directory, 'heph'), { recursive: true });
  const { code, stdout, stderr } = await program.ended();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const files = hephFiles(program.directory);
  const spans = files.length === 0 ? [] : await recordedIn(program.directory);
  return { ...(JSON.parse(stdout) as object), tree: treeOf(spans) };
}

describe.skipIf(place === undefined)('both copies of API 1.10', () => {
  it.each(['hook', 'register'])('record one trace: %s', async (provider) => {
    expect(await run(provider)).toEqual({
      areTwo: true,
      same: [true, true, true],
      theirs: [],
      tree: ['imported: outer', '  required: inner', '    early: early', '    early: early'],
    });
  });

  it('leave everything to a provider that one of them registers under the hook', async () => {
    expect(await run('other')).toMatchObject({
      areTwo: true,
      theirs: ['outer', 'inner', 'early', 'early'],
      tree: [],
    });
  });
});
