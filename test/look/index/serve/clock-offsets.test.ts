import { describe, expect, it } from 'vitest';
import { openLookIndex } from '../../../../src/look/index/open-look-index.js';
import { encodeEpoch } from '../../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../../heph/temporary-file.js';
import { encodeResource, encodeSpan, randomNumbers } from '../../../export/span-file.js';

const directory = temporaryDirectory();
const EPOCH = 1_700_000_000_000_000_000n;
const RESOURCE = 1n | (1n << 16n);
const SERVER = RESOURCE | (1n << 8n);
const CLIENT = RESOURCE | (2n << 8n);
const MS = 1_000_000n;

interface Host {
  name: string;
  /** How far its clock is ahead. */
  ahead: bigint;
}

/** Two services, of which the first calls the second; a way takes 0.1 to 1.1 ms. */
function recordings(folder: string, caller: Host, called: Host, drift = 0n): string[] {
  const below = randomNumbers(3);
  const calls: Buffer[] = [];
  const requests: Buffer[] = [];
  for (let i = 0; i < 200; i++) {
    const start = BigInt(i) * 20n * MS + 4_000_000n * MS;
    const there = BigInt(100_000 + below(1_000_000));
    const back = BigInt(100_000 + below(1_000_000));
    const [id, parent] = [BigInt(2 * i + 2), BigInt(2 * i + 1)];
    const end = start + there + 5n * MS + back;
    calls.push(
      encodeSpan({
        id: parent,
        start: start + caller.ahead,
        end: end + caller.ahead,
        flags: CLIENT,
      }),
    );
    const ahead = called.ahead + drift * BigInt(i);
    const from = start + there + ahead;
    requests.push(encodeSpan({ id, parent, start: from, end: from + 5n * MS, flags: SERVER }));
  }
  return [[caller, calls, 'caller'] as const, [called, requests, 'called'] as const].map(
    ([host, spans, service]) =>
      writeTrace(
        directory,
        `${folder}/${service}.heph`,
        encodeEpoch(EPOCH),
        encodeResource({ 'service.name': service, 'host.name': host.name }),
        ...spans,
      ),
  );
}

async function clocksOf(paths: string[]): Promise<{ offset: number; error: number | undefined }[]> {
  const index = await openLookIndex(paths, { cache: false });
  const clocks = index.sources.map(({ clockOffset, clockError }) => ({
    offset: Number(clockOffset),
    error: clockError,
  }));
  const [first, second] = index.parts;
  // After the correction every request lies within its call, unless a clock drifts.
  const isInside = Array.from({ length: second!.count }, (_, row) => {
    const parent = second!.parent[row]! - first!.firstRow;
    const begin = second!.start[row]! + second!.offset - first!.start[parent]! - first!.offset;
    return begin >= 0 && begin + second!.duration[row]! <= first!.duration[parent]!;
  });
  inside = isInside.filter(Boolean).length;
  index.close();
  return clocks;
}

let inside = 0;

describe('clocks of hosts', () => {
  it.each([250n, -3_600_000n, 5n])('are estimated from calls: %d ms ahead', async (ahead) => {
    const hosts = [
      { name: 'one', ahead: 0n },
      { name: 'two', ahead: ahead * MS },
    ] as const;
    const [one, two] = await clocksOf(recordings(`ahead${ahead}`, ...hosts));
    expect(one).toEqual({ offset: 0, error: 0 });
    expect(two!.error).toBeLessThan(200_000);
    expect(Math.abs(two!.offset + Number(ahead * MS))).toBeLessThanOrEqual(two!.error!);
    expect(inside).toBe(200);
  });

  it('are left alone where they can be right, on one host, and where no host is said', async () => {
    const right = { name: 'one', ahead: 0n };
    const [, other] = await clocksOf(recordings('right', right, { name: 'two', ahead: 20_000n }));
    expect(other!.offset).toBe(0);
    expect(other!.error).toBeLessThan(300_000);
    const same = await clocksOf(recordings('same', right, { name: 'one', ahead: 250n * MS }));
    expect(same).toEqual([
      { offset: 0, error: undefined },
      { offset: 0, error: undefined },
    ]);
  });

  it('that drift have an error as large as the drift', async () => {
    const hosts = [
      { name: 'one', ahead: 0n },
      { name: 'two', ahead: 250n * MS },
    ] as const;
    // 50 ms in 200 calls.
    const [, two] = await clocksOf(recordings('drift', ...hosts, 250_000n));
    expect(Math.abs(two!.offset + 275e6)).toBeLessThan(5e6);
    expect(two!.error).toBeGreaterThan(20e6);
    expect(two!.error).toBeLessThan(30e6);
  });
});
