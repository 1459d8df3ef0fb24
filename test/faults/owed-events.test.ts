import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { checkTrace } from '../../src/ovni/read/check.js';
import { resultOfFixture } from '../fixtures/run-fixture.js';
import { eventsOf, streamsOf } from '../ovni/stream-content.js';
import { mayMount, SmallDisk } from './small-disk.js';

const disks: SmallDisk[] = [];
afterEach(() => {
  for (const disk of disks.splice(0)) disk.unmount();
});

const cases = ([1, 3] as const).flatMap((version) =>
  (['drop', 'block'] as const).flatMap((onFull) =>
    [1, 2, 3].map((seed) => ({ version, onFull, seed, early: false })),
  ),
);

describe.skipIf(!mayMount)(
  'states and marks that change on a full disk (skipped where mounts need another user)',
  () => {
    it.each([...cases, { version: 3, onFull: 'drop', seed: 9, early: true }])(
      'are made up for when it has space: %o',
      async (input) => {
        const disk = SmallDisk.mount(2048)!;
        disks.push(disk);
        const { owing, single } = await resultOfFixture<{ owing: number; single: number }>(
          'faults/ovni-owing.mjs',
          { input: { ...input, disk: disk.path } },
        );
        expect(owing).toBe(5);
        const trace = join(disk.path, 'ovni');
        // Neither an error nor a warning: nothing is out of order, and no mark is left.
        expect([...checkTrace(trace)].map(({ rule, message }) => `${rule}: ${message}`)).toEqual(
          [],
        );
        const events = eventsOf(streamsOf(trace)[0]!);
        const last = events.findLast(({ mcv }) => mcv === 'OM=')!;
        expect(new DataView(last.payload.buffer, last.payload.byteOffset).getInt32(0, true)).toBe(
          single,
        );
      },
    );
  },
);
