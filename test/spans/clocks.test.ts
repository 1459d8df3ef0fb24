import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readPackets } from '../../src/heph/read/reader.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { steppingClocks } from '../stepping-clocks.js';
import { allSpans } from './span-trace.js';

const directory = temporaryDirectory();
const service = new URL('fixtures/stepping-clocks.mjs', import.meta.url);
const passing = new URL('fixtures/passing-minutes.mjs', import.meta.url);
const preloaded = steppingClocks(directory);

test.skipIf(preloaded === undefined)(
  'times are right after a clock was set, and after a suspend',
  async () => {
    const path = join(directory, 'clocks.heph');
    execFileSync(process.execPath, [fileURLToPath(service), path], {
      env: {
        ...process.env,
        LD_PRELOAD: preloaded,
        TRACEWRIGHT_CLOCK: 'monotonic',
        TRACEWRIGHT_TEST_CLOCKS: join(directory, 'clocks'),
      },
    });
    const clocks: string[] = [];
    let last = '';
    let defined = 0;
    for (const packet of readPackets(path)) {
      if (packet.kind !== 'event') continue;
      const { description, stream } = packet;
      if (stream === 0xffff_ffff) {
        if (description === 'tracewright.clock') defined++;
        continue;
      }
      // A thread looks at the clocks when a span ends: the record comes before that span.
      if (description === 'tracewright.clock') clocks.push(last);
      else if (!description.startsWith('tracewright.')) last = description;
    }
    expect(clocks).toEqual(['', 'first', 'quiet', 'suspended', 'set back']);
    // Later pieces begin with them: forward, after the suspend, and back.
    expect(defined).toBe(3);

    const starts = new Map<string, bigint>();
    for (const { end, name, start } of await allSpans(path)) {
      // A duration is that of the monotonic clock.
      expect(end - start).toBeLessThan(60_000_000_000n);
      starts.set(name, start);
    }
    const since = (name: string): number =>
      Math.round(Number(starts.get(name)! - starts.get('first')!) / 1e9 / 60);
    expect(since('set forward')).toBe(60);
    expect(since('quiet')).toBe(60);
    expect(since('suspended')).toBe(60 + 120);
    expect(since('set back')).toBe(60 + 120 - 30);
    expect(since('a minute later')).toBe(60 + 120 - 30 + 1);
  },
);

test.skipIf(preloaded === undefined)(
  'a thread that is stopped between two readings of clocks sees no jump',
  async () => {
    const path = join(directory, 'stopped.heph');
    const minutes = 30;
    execFileSync(process.execPath, [fileURLToPath(passing), path, String(minutes)], {
      env: {
        ...process.env,
        LD_PRELOAD: preloaded,
        TRACEWRIGHT_CLOCK: 'monotonic',
        TRACEWRIGHT_TEST_CLOCKS: join(directory, 'minutes'),
        TRACEWRIGHT_TEST_PAUSE: '3000',
      },
    });
    let epoch: bigint | undefined;
    const offsets: bigint[] = [];
    const starts: bigint[] = [];
    for (const packet of readPackets(path)) {
      if (packet.kind === 'metadata') epoch = packet.epoch;
      else if (packet.description === 'work') starts.push(packet.start);
      else if (packet.description === 'tracewright.clock') {
        const word = (wanted: string): bigint =>
          packet.attributes.find(({ name }) => name === wanted)!.value as bigint;
        expect(word('~v')).toBe(2n);
        offsets.push(word('realtime') - word('time') - epoch!);
      }
    }
    // One whose readings took too long is left to the next look.
    expect(offsets.length).toBeGreaterThan(minutes / 2);
    for (const offset of offsets) expect(Math.abs(Number(offset))).toBeLessThan(1e6);
    const spans = (await allSpans(path)).filter(({ name }) => name === 'work');
    expect(spans.map(({ start }) => start - epoch!)).toEqual(starts);
  },
  60_000,
);

/** Debian's libfaketime: what the clocks of libc say is moved by the seconds in a file. */
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

test.skipIf(!existsSync(FAKETIME))(
  "a trace over a day's corrections of the clock",
  async () => {
    const path = join(directory, 'day.heph');
    const file = join(directory, 'offset');
    writeFileSync(file, '+0');
    execFileSync(
      process.execPath,
      [fileURLToPath(new URL('fixtures/corrected-clock.mjs', import.meta.url)), path, file],
      {
        env: {
          ...process.env,
          LD_PRELOAD: FAKETIME,
          FAKETIME_TIMESTAMP_FILE: file,
          FAKETIME_NO_CACHE: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
        },
      },
    );
    const settled = (await allSpans(path)).filter(({ name }) => name === 'settled');
    expect(settled).toHaveLength(5);
    const starts = settled.map(({ start }) => Number(start / 1000n) / 1000);
    // A clock record shows a jump of a millisecond or more; a busy machine may pause between two calls.
    starts.forEach((start, i) => {
      expect(Math.abs(start - Number(settled[i]!.attributes['now']))).toBeLessThan(20);
    });
    expect(Math.round((starts[4]! - starts[0]!) / 3_600_000)).toBe(24);
  },
  60_000,
);
