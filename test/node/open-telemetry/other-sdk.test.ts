import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { TracedProcess } from '../traced-process.js';
import { hephFiles } from '../written-traces.js';
import { dependencies, install, place, recordedIn } from './installed.js';

const register = fileURLToPath(new URL('../../../dist/node/register.js', import.meta.url));
const FILES = ['other-sdk.cjs', 'sdk-of-program.cjs'];

async function run(sdk: string, when: string) {
  const directory = install('other-sdk', FILES, dependencies('@opentelemetry/instrumentation-pg'));
  const sdkFirst = ['-r', join(directory, 'sdk-of-program.cjs'), '--import', register];
  const program = new TracedProcess(join(directory, 'other-sdk.cjs'), {
    ...(when === 'before' ? { hook: 'none', flags: sdkFirst } : {}),
    cwd: directory,
    env: {
      TRACEWRIGHT_CONTEXT: 'on',
      TRACEWRIGHT_INJECT: 'off',
      TRACEWRIGHT_QUIET: '1',
      TRACEWRIGHT_TEST_SDK: `${sdk} ${when}`,
    },
  });
  const { code, stdout, stderr } = await program.ended();
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const theirs = JSON.parse(/^theirs (.*)$/m.exec(stdout)![1]!) as string[];
  const files = hephFiles(program.directory);
  return { theirs, ours: files.length === 0 ? [] : await recordedIn(program.directory) };
}

describe.skipIf(place === undefined)('everything goes to', () => {
  it.each([
    ['node-sdk', 'before'],
    ['node-sdk', 'after'],
    ['node-sdk', 'async'],
    ['vercel', 'before'],
    ['vercel', 'after'],
    ['vercel', 'async'],
  ])('%s that starts %s, with two copies of the API', async (sdk, when) => {
    const { theirs, ours } = await run(sdk, when);
    // Once, though the hook has started the same instrumentation.
    expect(theirs).toEqual([
      'pg: pg.connect',
      'pg: pg.query:SELECT postgres',
      'old: of the old copy',
      'early: outer',
    ]);
    expect(ours).toEqual([]);
  });
});
