import { describe, expect, it } from 'vitest';
import type { Attribute } from '../../../src/heph/packet.js';
import { openLookIndex } from '../../../src/look/index/open-look-index.js';
import { encodeEpoch, encodeEvent, someEvent } from '../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../heph/temporary-file.js';
import { encodeSpan } from '../../export/span-file.js';
import { allSpans } from '../span-trace.js';

const directory = temporaryDirectory();
const EPOCH = 1_700_000_000_000_000_000n;
const MS = 1_000_000n;
const SECOND = 1000n * MS;
/** CLOCK_MONOTONIC at time 0. */
const ZERO = 5000n * SECOND;

const u64 = (name: string, value: bigint): Attribute => ({ name, type: 'u64', value });

function clockRecord(start: bigint, thread: number, attributes: Attribute[]): Buffer {
  return encodeEvent(
    someEvent({ stream: thread, start, end: start, description: 'tracewright.clock', attributes }),
  );
}

/** A record whose readings are of `time`, and which began `delay` later. */
function readingsOf(time: bigint, delay: bigint, jump = 0n, thread = 0): Buffer {
  return clockRecord(time + delay, thread, [
    u64('~v', 2n),
    u64('time', time),
    u64('realtime', EPOCH + time + jump),
    u64('monotonic', ZERO + time),
    u64('boottime', ZERO + time),
  ]);
}

const span = (id: bigint, start: bigint): Buffer => encodeSpan({ id, start, end: start + MS });

let files = 0;

/** How far the spans of a file are from the epoch, and what the index says of losses. Both readers agree. */
async function read(records: Buffer[]): Promise<{ shifts: bigint[]; said: string[] }> {
  const path = writeTrace(directory, `${++files}.heph`, encodeEpoch(EPOCH), ...records);
  const starts = (await allSpans(path)).map(({ start }) => start);
  const index = await openLookIndex([path], { cache: false });
  try {
    const rows = index.parts.flatMap(({ offset, start }) =>
      [...start].map((each) => each + offset),
    );
    const indexed = rows.map((start) => index.epoch + BigInt(start));
    expect(indexed.toSorted((a, b) => Number(a - b))).toEqual(starts);
    const said = index.sources.flatMap(({ losses }) => losses.map(({ reason }) => reason));
    return { shifts: starts.map((start) => start - EPOCH), said };
  } finally {
    index.close();
  }
}

describe('clock records', () => {
  it('show jumps, whenever they began themselves', async () => {
    const { shifts, said } = await read([
      readingsOf(SECOND, 900n * MS),
      span(1n, 2n * SECOND),
      readingsOf(61n * SECOND, 700n * MS, -20n * MS),
      span(2n, 62n * SECOND),
    ]);
    expect(shifts).toEqual([2n * SECOND, 62n * SECOND - 20n * MS]);
    expect(said.filter((reason) => reason.includes('clock'))).toEqual([]);
  });

  it('of another thread, from before a jump, do not undo it', async () => {
    const { shifts } = await read([
      readingsOf(61n * SECOND, 0n, SECOND),
      readingsOf(60n * SECOND, 0n, 0n, 1),
      span(1n, 62n * SECOND),
    ]);
    expect(shifts).toEqual([63n * SECOND]);
  });

  it('among the definitions at the start of a piece hold for all of it', async () => {
    const { shifts } = await read([
      readingsOf(61n * SECOND, 0n, 3600n * SECOND, 0xffff_ffff),
      span(1n, 100n * SECOND),
    ]);
    expect(shifts).toEqual([3700n * SECOND]);
  });

  it('without readings say nothing', async () => {
    const { shifts } = await read([
      clockRecord(SECOND, 0, [u64('~v', 2n), u64('time', 7n)]),
      span(1n, 2n * SECOND),
    ]);
    expect(shifts).toEqual([2n * SECOND]);
  });

  it('with a reading of another type are refused', async () => {
    const records = [
      clockRecord(SECOND, 0, [
        u64('~v', 2n),
        { name: 'realtime', type: 'f64', value: 1.5 },
        u64('time', 7n),
      ]),
      span(1n, 2n * SECOND),
    ];
    await expect(read(records)).rejects.toThrow('the attribute "realtime" is f64; want u64 or i64');
  });
});
