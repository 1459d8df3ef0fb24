import { describe, expect, it } from 'vitest';
import { injectionOf } from '../../src/libraries/injected/injected-channel.js';
import {
  entryOf,
  firstChannels,
  INJECTED_NAMES,
  LIBRARY_NAMES,
} from '../../src/libraries/table.js';
import type { LibraryName } from '../../src/libraries/table.js';
import { libraryOf } from '../../src/libraries/record-library.js';
import { installedPackages } from './packages.js';
import { TracedProcess } from '../node/traced-process.js';
import { faultsOf, spansOf } from '../node/written-traces.js';

/** All channels of a library, and of its parts. */
function channelsOf(name: LibraryName): string[] {
  const { operations, announcements = [] } = libraryOf(name);
  return [
    ...operations.map(({ channel }) => channel),
    ...announcements.map(({ channel }) => `plain ${channel}`),
  ];
}

/** One channel of each library: a library ends its tracing with its first odd message. */
function round(index: number): { names: string[]; channels: string[] } {
  const present = LIBRARY_NAMES.filter((name) => channelsOf(name)[index] !== undefined);
  return {
    names: present.map((name) => libraryOf(name).name),
    channels: present.map((name) => channelsOf(name)[index]!),
  };
}

const most = Math.max(...LIBRARY_NAMES.map((name) => channelsOf(name).length));
const rounds = Array.from({ length: most }, (_, index) => round(index));

describe('messages that a library does not send', () => {
  it.each(rounds)('on $channels never reach the program', async ({ names, channels }) => {
    const script = new URL('fixtures/odd-messages.mjs', import.meta.url).href;
    const traced = new TracedProcess(script, {
      args: channels,
      env: {
        TRACEWRIGHT_CONTEXT: 'on',
        TRACEWRIGHT_LIBRARIES: 'auto,graphql:resolve,lru-cache,net',
      },
      cwd: await installedPackages('newest'),
    });
    const { code, stdout, stderr } = await traced.ended();
    expect(code).toBe(0);
    expect(stdout).toBe(`${'result\n'.repeat(4)}promise\n`.repeat(channels.length));
    const warned = [...stderr.matchAll(/TracewrightWarning: (\S+) is no longer traced: /g)];
    expect(warned.map(([, name]) => name)).toEqual(names);
    // What sockets receive is watched as well.
    const others = channels.includes('plain net.client.socket') ? 1 : 0;
    expect(stderr.match(/TracewrightWarning/g)).toHaveLength(names.length + others);
    expect(faultsOf(traced.directory)).toEqual([]);
    expect(spansOf(traced.directory).map(({ description }) => description)).toContain('outer');
  });
});

describe('the table of libraries', () => {
  it.each(LIBRARY_NAMES)('has the channels of the file of %s', (name) => {
    const own = channelsOf(name).map((channel) =>
      channel.startsWith('plain ') ? channel.slice(6) : `tracing:${channel}:start`,
    );
    expect(firstChannels(name)).toEqual(own);
    // The two files of graphql are one library.
    expect(libraryOf(name).name).toBe(name.split(':')[0]!.replace('graphql16', 'graphql'));
  });

  it.each(INJECTED_NAMES)('has the packages into which channels of %s are put', (name) => {
    const packages = injectionOf(name).files.map((file) => file.package);
    expect([...entryOf(name).packages!].sort()).toEqual([...new Set(packages)].sort());
  });
});
