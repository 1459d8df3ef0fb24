import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import type { LookIndex } from '../../../src/look/index/look-index.js';
import { makeReport } from '../../../src/look/report/report.js';
import { Recording } from '../../../src/look/server/recording.js';
import { writeOvniTrace } from '../../cli/small-ovni-trace.js';
import { encodeEpoch, encodeEvent, someEvent } from '../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../heph/temporary-file.js';
import { encodeSpan } from '../../export/span-file.js';

const directory = temporaryDirectory();
const EPOCH = encodeEpoch(1_700_000_000_000_000_000n);
const SPANS = [1n, 2n, 3n].map((id) => encodeSpan({ id, start: id * 10n, end: id * 10n + 5n }));

const clockRecord = (): Buffer =>
  encodeEvent(
    someEvent({
      description: 'tracewright.clock',
      attributes: [
        { name: '~v', type: 'u64', value: 1n },
        { name: 'realtime', type: 'f64', value: 0.5 },
      ],
    }),
  );

/** What lies next to a whole Heph trace, and what its fault names. */
const BROKEN: Record<string, { make: (place: string) => void; names: RegExp }> = {
  'an ovni directory that could not begin': {
    make(place) {
      mkdirSync(join(place, 'ovni/loom.node0.1/proc.7'), { recursive: true });
    },
    names: /ovni.*no ovni trace/,
  },
  'a stream without its metadata': {
    make(place) {
      mkdirSync(join(place, 'ovni/loom.node0.1/proc.7'), { recursive: true });
      writeFileSync(join(place, 'ovni/loom.node0.1/proc.7/thread.7'), '');
    },
    names: /metadata\.json/,
  },
  'a stream.json of no bytes': {
    make(place) {
      const thread = join(place, 'ovni/loom.node0.1/proc.7/thread.7');
      mkdirSync(thread, { recursive: true });
      writeFileSync(join(thread, 'stream.json'), '');
      writeFileSync(join(thread, 'stream.obs'), '');
    },
    names: /stream\.json, byte 0: this is not JSON/,
  },
  'a clock-offsets.txt of no bytes': {
    make(place) {
      writeOvniTrace(join(place, 'ovni'), 1_000_000n);
      writeFileSync(join(place, 'ovni/clock-offsets.txt'), '');
    },
    names: /clock-offsets\.txt, byte 0: the table of clock offsets has no rows/,
  },
  'a metafile of DUMPI that is none': {
    make(place) {
      writeFileSync(join(place, 'run.meta'), 'nothing of the kind');
    },
    names: /run\.meta/,
  },
  'a file of DUMPI that ends after its magic': {
    make(place) {
      const magic = Buffer.from('0040c0c00000d1ce'.padEnd(16, '0'), 'hex');
      writeFileSync(join(place, 'rank-0000.bin'), magic);
      writeFileSync(join(place, 'run.meta'), 'numprocs=1\nfileprefix=rank\n');
    },
    names: /rank|run/,
  },
  'a kernel trace of Laplace that is none': {
    make(place) {
      writeFileSync(join(place, 'x.kernel.txt'), 'nothing of the kind\n');
    },
    names: /x\.kernel\.txt, byte 0/,
  },
  'a Heph file that is none': {
    make(place) {
      writeFileSync(join(place, 'a.heph'), 'nothing of the kind');
    },
    names: /a\.heph is damaged from byte 0/,
  },
  'a Heph file with a faulty clock record': {
    make(place) {
      writeTrace(place, 'a.heph', EPOCH, clockRecord());
    },
    names: /a\.heph, byte 23: the attribute "realtime" is f64/,
  },
  'a span with a message of the status that is a number': {
    make(place) {
      const attributes = [{ name: '~m', type: 'u64', value: 1n }] as const;
      writeTrace(
        place,
        'a.heph',
        EPOCH,
        encodeSpan({ id: 9n, start: 1n, end: 2n, attributes: [...attributes] }),
      );
    },
    names: /1 record of .*a\.heph not as the format says, the first at byte 23/,
  },
};

async function opened<T>(place: string, use: (index: LookIndex) => T | Promise<T>): Promise<T> {
  const index = await openLookIndex([place], { cache: false });
  try {
    return await use(index);
  } finally {
    index.close();
  }
}

const rowsOf = ({ parts }: LookIndex, name: string): number =>
  parts
    .filter(({ source }) => source.path.endsWith(name))
    .reduce((sum, { count }) => sum + count, 0);

describe.each(Object.entries(BROKEN))('next to a whole trace: %s', (name, { make, names }) => {
  const place = join(directory, name);
  mkdirSync(place);
  writeTrace(join(place, 'heph'), 'whole.heph', EPOCH, ...SPANS);
  make(place);

  it('the whole trace is read, and the fault is named', async () => {
    await opened(place, async (index) => {
      expect(rowsOf(index, 'whole.heph')).toBe(3);
      expect(index.unread.map(({ reason }) => reason).join('\n')).toMatch(names);
      const { report } = await makeReport(index, {});
      const unread = report.losses.filter(({ unreadable }) => unreadable);
      expect(unread.map(({ reason }) => reason).join('\n')).toMatch(names);
      expect(new Recording(index, false).problems.join('\n')).toMatch(names);
    });
  });
});

describe('what is whole', () => {
  it('has nothing that cannot be read', async () => {
    const place = join(directory, 'all is well');
    writeTrace(place, 'whole.heph', EPOCH, ...SPANS);
    writeOvniTrace(join(place, 'ovni'), 1_000_000n);
    await opened(place, (index) => {
      expect(index.unread).toEqual([]);
      expect(new Recording(index, false).problems).toEqual([]);
    });
  });
});

describe.skipIf(process.getuid?.() === 0)('a user who may not read everything', () => {
  it('gets the rest of the directory', async () => {
    const place = join(directory, 'locked');
    writeTrace(place, 'whole.heph', EPOCH, ...SPANS);
    writeTrace(place, 'locked.heph', EPOCH, ...SPANS);
    mkdirSync(join(place, 'inner'));
    chmodSync(join(place, 'locked.heph'), 0);
    chmodSync(join(place, 'inner'), 0);
    await opened(place, (index) => {
      expect(rowsOf(index, 'whole.heph')).toBe(3);
      expect(index.unread).toHaveLength(2);
    });
  });
});
