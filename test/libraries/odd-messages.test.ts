import { describe, expect, it } from 'vitest';
import { LIBRARY_NAMES, firstChannels } from '../../src/libraries/watched-channels.js';
import { libraryOf } from '../../src/libraries/record-library.js';
import { installedPackages } from './packages.js';
import { TracedProcess } from '../node/traced-process.js';
import { faultsOf, spansOf } from '../node/written-traces.js';

const channels = LIBRARY_NAMES.flatMap((name) =>
  libraryOf(name).operations.map(({ channel }) => ({ name, channel })),
);

describe('messages that a library does not send', () => {
  it.each(channels)('on $channel never reach the program', async ({ name, channel }) => {
    const script = new URL('fixtures/odd-messages.mjs', import.meta.url).href;
    const traced = new TracedProcess(script, {
      args: [channel],
      env: {
        TRACEWRIGHT_CONTEXT: 'on',
        TRACEWRIGHT_INJECT: 'auto',
        TRACEWRIGHT_LIBRARIES: 'auto,graphql:resolve',
      },
      cwd: await installedPackages('newest'),
    });
    const { code, stdout, stderr } = await traced.ended();
    expect(code).toBe(0);
    expect(stdout).toBe('result\n'.repeat(4) + 'promise\n');
    expect(stderr.match(/TracewrightWarning/g)).toHaveLength(1);
    expect(stderr).toContain(`${name.split(':')[0]} is no longer traced: `);
    expect(faultsOf(traced.directory)).toEqual([]);
    expect(spansOf(traced.directory).map(({ description }) => description)).toContain('outer');
  });
});

describe('the table of channels', () => {
  it.each(LIBRARY_NAMES)('has those of the file of %s', (name) => {
    const own = libraryOf(name).operations.map(({ channel }) => `tracing:${channel}:start`);
    expect(firstChannels(name)).toEqual(own);
    expect(libraryOf(name).name).toBe(name.split(':')[0]);
  });
});
