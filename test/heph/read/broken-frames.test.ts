import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../cpu-time.js';
import type { TracewrightError } from '../../../src/core/errors.js';
import { checkTrace } from '../../../src/heph/index.js';
import { EVENT_MAGIC } from '../../../src/heph/layout.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { encodeSpan, randomNumbers } from '../../export/span-file.js';
import { allSpans } from '../../spans/span-trace.js';
import { encodeEpoch } from '../byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../temporary-file.js';

const directory = temporaryDirectory();
const COUNT = 400;
const EPOCH = encodeEpoch(1_700_000_000_000_000_000n);
const RECORDS = Array.from({ length: COUNT }, (_, i) => {
  const [id, start] = [BigInt(i + 1), BigInt(i) * 10n];
  return encodeSpan({ id, start, end: start + 5n, name: 'x'.repeat(1 + (i % 40)) });
});
const BYTES = Buffer.concat([EPOCH, ...RECORDS]);
const OFFSETS: number[] = [];
RECORDS.reduce((offset, { length }) => {
  OFFSETS.push(offset);
  return offset + length;
}, EPOCH.length);
const random = randomNumbers(20);

/** Bytes `from` to `to` are `by` in their stead; of the same length or not. */
interface Damage {
  from: number;
  to: number;
  by: Buffer;
}

function randomBytes(length: number): Buffer {
  return Buffer.from(Array.from({ length }, () => random(256)));
}

const somewhere = (): { from: number; to: number } => {
  const from = EPOCH.length + random(BYTES.length - EPOCH.length - 1);
  return { from, to: Math.min(BYTES.length, from + 1 + random(2000)) };
};

const KINDS: Record<string, () => Damage> = {
  zeros() {
    const { from, to } = somewhere();
    return { from, to, by: Buffer.alloc(to - from) };
  },
  'other bytes'() {
    const { from, to } = somewhere();
    return { from, to, by: randomBytes(to - from) };
  },
  'bytes that are gone'() {
    return { ...somewhere(), by: Buffer.alloc(0) };
  },
  'bytes that were put in'() {
    const from = OFFSETS[random(COUNT)]!;
    return { from, to: from, by: randomBytes(1 + random(300)) };
  },
  'a magic number'() {
    const from = OFFSETS[random(COUNT)]!;
    return { from, to: from + 4, by: randomBytes(4) };
  },
  'a size that is too small'() {
    const from = OFFSETS[random(COUNT)]! + 4;
    return { from, to: from + 4, by: Buffer.from([0, 0, 0, random(42)]) };
  },
  'a size that is too large'() {
    const from = OFFSETS[random(COUNT)]! + 4;
    return { from, to: from + 4, by: Buffer.from([1 + random(255), 0, 0, 0]) };
  },
};

/** Where bytes are gone, the size of a record that lost its end goes into the one behind the gap. */
const swallowed = ({ from, by }: Damage): number =>
  by.length > 0 || OFFSETS.includes(from) ? 0 : 1;

/** The ids of the spans whose bytes are all there. */
function untouched({ from, to }: Damage): string[] {
  const ids: string[] = [];
  for (const [i, offset] of OFFSETS.entries()) {
    const end = offset + RECORDS[i]!.length;
    const isTouched = from === to ? offset < from && from < end : offset < to && from < end;
    if (!isTouched) ids.push((i + 1).toString(16).padStart(16, '0'));
  }
  return ids;
}

async function rowsIn(path: string, isCached: boolean): Promise<number> {
  const cached = { cache: join(directory, 'index'), leastCachedBytes: 0 };
  const index = await openLookIndex([dirname(path)], isCached ? cached : { cache: false });
  try {
    expect(index.unread.length).toBeGreaterThan(0);
    return index.parts.reduce((sum, { count }) => sum + count, 0);
  } finally {
    index.close();
  }
}

describe.each(Object.entries(KINDS))(
  'a file in whose middle there are other bytes: %s',
  (kind, damage) => {
    it(
      'every span that is whole is read, and each reader names the fault',
      { timeout: 60_000 },
      async () => {
        for (let round = 0; round < 25; round++) {
          const damaged = damage();
          const { from, to, by } = damaged;
          const folder = join(directory, `${kind} ${round}`);
          mkdirSync(folder, { recursive: true });
          const path = writeTrace(
            folder,
            'a.heph',
            BYTES.subarray(0, from),
            by,
            BYTES.subarray(to),
          );
          const whole = untouched(damaged);
          const faults: TracewrightError[] = [];
          const spans = await allSpans(path, { onFault: (fault) => faults.push(fault) });
          const read = new Set(spans.map(({ spanId }) => spanId));
          const missing = whole.filter((id) => !read.has(id));
          expect(missing.length).toBeLessThanOrEqual(swallowed(damaged));
          const errors = [...checkTrace(path)].filter(({ severity }) => severity === 'error');
          // Where zeros fall into one attribute alone, or whole records are gone, the rest is as the format says.
          if (errors.length === 0) continue;
          expect(faults.length).toBeGreaterThan(0);
          expect(await rowsIn(path, round % 2 === 1)).toBeGreaterThanOrEqual(
            whole.length - missing.length,
          );
        }
      },
    );
  },
);

describe('a file full of magic numbers that begin no event', () => {
  it('is given up', async () => {
    const heads = Buffer.alloc(4 << 20, encodeHead((1 << 20) + 3));
    const path = writeTrace(
      directory,
      'magic.heph',
      EPOCH,
      RECORDS[0]!,
      Buffer.alloc(8),
      heads,
      RECORDS[1]!,
    );
    const faults: TracewrightError[] = [];
    const before = cpuMs();
    const spans = await allSpans(path, { onFault: (fault) => faults.push(fault) });
    expect(spans.length).toBeGreaterThan(0);
    expect(faults[0]).toMatchObject({ path, offset: EPOCH.length + RECORDS[0]!.length });
    expect(cpuMs() - before).toBeLessThan(20_000);
  });
});

function encodeHead(size: number): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(EVENT_MAGIC, 0);
  head.writeUInt32BE(size, 4);
  return head;
}
