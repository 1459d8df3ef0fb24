import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { endianness, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { core } from '../../../src/core/addon.js';
import { readPackets, recoverTrace as recoverHeph } from '../../../src/heph/index.js';
import {
  readStream,
  readTraceDirectory,
  recoverTrace as recoverOvni,
} from '../../../src/ovni/index.js';
import { runFixture } from '../../fixtures/run-fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-past-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const BEFORE = 50;
const BYTES = 100_000;
type Heads = Record<'heph' | 'ovni', number>;

/** Puts the head of a ring back to where it stood, as if the kill had come between the two stores. */
function putHead(ring: string, head: number): void {
  const page = readFileSync(ring);
  const { control } = core;
  const little = endianness() === 'LE';
  const read = (at: number) => (little ? page.readBigUInt64LE(at) : page.readBigUInt64BE(at));
  expect(read(control.tail)).toBe(read(control.head));
  expect(Number(read(control.tail)) - head).toBeGreaterThan(BYTES);
  if (little) page.writeBigUInt64LE(BigInt(head), control.head);
  else page.writeBigUInt64BE(BigInt(head), control.head);
  writeFileSync(ring, page);
}

async function killed(version: 1 | 3) {
  const place = mkdtempSync(join(folder, 'run-'));
  const hephFile = join(place, 'trace.heph');
  const traceDir = join(place, 'ovni');
  const { signal, stdout } = await runFixture('core/killed-past-ring.mjs', {
    input: { hephFile, traceDir, version, before: BEFORE, bytes: BYTES },
  });
  expect(signal).toBe('SIGKILL');
  const heads = JSON.parse(stdout) as Heads;
  const rings = readdirSync(place, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ring'))
    .map((name) => join(place, name));
  expect(rings).toHaveLength(2);
  for (const ring of rings) {
    putHead(ring, basename(ring).includes('heph') ? heads.heph : heads.ovni);
  }
  return { place, hephFile, traceDir, rings };
}

describe.runIf(process.platform === 'linux')('a kill right behind a record past the ring', () => {
  it.each([1, 3] as const)('costs nothing, ovni version %i', async (version) => {
    const { place, hephFile, traceDir } = await killed(version);
    expect(recoverHeph(hephFile)).toMatchObject({ streams: [{ bytes: 0 }], faults: [] });
    expect([...readPackets(hephFile)].filter(({ kind }) => kind === 'event')).toHaveLength(
      BEFORE + 1,
    );
    expect(recoverOvni(traceDir)).toMatchObject({
      streams: [{ bytes: 0, addedRecords: 1 }],
      faults: [],
    });
    const [stream] = readTraceDirectory(traceDir).streams;
    const events = Array.from(readStream(stream!.path, { version }), ({ mcv, data }) => ({
      mcv,
      bytes: data?.length,
    }));
    expect(events).toHaveLength(BEFORE + 3);
    expect(events.at(-2)).toEqual({ mcv: 'OU=', bytes: BYTES });
    expect(events.at(-1)).toMatchObject({ mcv: 'OHe' });
    const left = readdirSync(place, { recursive: true, encoding: 'utf8' });
    expect(left.filter((name) => name.endsWith('.ring'))).toEqual([]);
  });

  it('is no excuse for a page that is wrong', async () => {
    const { hephFile, traceDir, rings } = await killed(3);
    const heph = rings.find((ring) => basename(ring).includes('heph'))!;
    const own = rings.find((ring) => ring !== heph)!;
    const { control } = core;
    // A place that it has taken since, and a file that is shorter than the tail says.
    for (const [ring, at, value] of [
      [heph, control.claimTo, 2n ** 40n],
      [own, control.tail, 2n ** 40n],
    ] as const) {
      const page = readFileSync(ring);
      if (endianness() === 'LE') page.writeBigUInt64LE(value, at);
      else page.writeBigUInt64BE(value, at);
      writeFileSync(ring, page);
    }
    const before = readFileSync(hephFile);
    for (const { streams, faults } of [recoverHeph(hephFile), recoverOvni(traceDir)]) {
      expect(streams).toEqual([]);
      expect(faults).toMatchObject([{ code: 'ERR_TRACE_FORMAT' }]);
    }
    expect(readFileSync(hephFile).equals(before)).toBe(true);
  });
});
