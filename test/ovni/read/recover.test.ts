import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { controlLayout as control } from '../../../src/core/control-layout.js';
import { checkTrace, readStream, recoverTrace } from '../../../src/ovni/index.js';
import { runFixture } from '../../fixtures/run-fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-ovni-recovery-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Left {
  version: 1 | 3;
  cpu?: number;
  states?: string[];
  marks?: [number, number][];
}

/** A trace as a killed process leaves it, with its one stream and the ring of that. */
async function killed({ version, cpu = -1, states = ['OHx'], marks = [] }: Left) {
  const traceDir = join(mkdtempSync(join(folder, 'run-')), 'ovni');
  const { signal } = await runFixture('ovni/killed-state.mjs', {
    input: { traceDir, version, cpu, states, marks },
  });
  expect(signal).toBe('SIGKILL');
  const place = join(traceDir, 'loom.node.1/proc.1');
  return version === 3
    ? {
        traceDir,
        stream: join(place, 'thread.1/stream.obs'),
        ring: join(place, 'thread.1/.stream.ring'),
        metadata: join(place, 'thread.1/stream.json'),
      }
    : {
        traceDir,
        stream: join(place, 'thread.1'),
        ring: join(place, '.thread.1.ring'),
        metadata: join(place, 'metadata.json'),
      };
}

function eventsOf(stream: string, version: 1 | 3): string[] {
  return Array.from(readStream(stream, { version }), ({ mcv }) => mcv);
}

describe.runIf(process.platform === 'linux')('recovery of an ovni trace', () => {
  it('comes to the same when it was killed before it noted that a stream needs no owner', async () => {
    const left = await killed({ version: 1, cpu: 0, states: ['OHx', 'OHp'] });
    const { traceDir, stream, metadata } = left;
    const before = readFileSync(metadata);
    expect(recoverTrace(traceDir).faults).toEqual([]);
    const whole = [readFileSync(stream), readFileSync(metadata)];
    expect(before.equals(whole[1]!)).toBe(false);
    writeFileSync(metadata, before);
    expect(recoverTrace(traceDir)).toMatchObject({ faults: [], streams: [{ addedRecords: 0 }] });
    expect([readFileSync(stream), readFileSync(metadata)]).toEqual(whole);
  });

  it.each([
    [3, -1, [], ['OHx', 'OHe']],
    [3, -1, ['OHx'], ['OHe']],
    [3, -1, ['OHx', 'OHc'], ['OHe']],
    [3, -1, ['OHx', 'OHp'], ['OHr', 'OHe']],
    [3, 0, ['OHx', 'OHp'], ['OHw', 'OAs', 'OHr', 'OHe']],
    [3, 0, ['OHx', 'OHp', 'OHw'], ['OAs', 'OHr', 'OHe']],
    [3, -1, ['OHx', 'OHe'], []],
    [1, -1, ['OHx', 'OHc'], ['OHp', 'OHr', 'OHe']],
    [1, 0, ['OHx', 'OHp'], ['OHr', 'OHe']],
  ] as const)('version %i, CPU %i, after %j: adds %j', async (version, cpu, states, added) => {
    const { traceDir, stream } = await killed({ version, cpu, states: [...states] });
    const { streams, faults } = recoverTrace(traceDir);
    expect(faults).toEqual([]);
    expect(streams).toMatchObject([{ path: stream, addedRecords: added.length }]);
    expect(eventsOf(stream, version)).toEqual(['OB.', ...states, ...added]);
    expect([...checkTrace(traceDir)]).toEqual([]);
  });

  it('pops the marks that are still pushed, the last one first', async () => {
    const marks: [number, number][] = [
      [3, 7],
      [4, 1],
      [3, -5],
    ];
    const { traceDir, stream } = await killed({ version: 3, marks });
    expect(recoverTrace(traceDir).streams).toMatchObject([{ addedRecords: 4, endedMarks: 3 }]);
    const pops = Array.from(readStream(stream, { version: 3 }), (event) =>
      event.mcv === 'OM]' ? [event.i32(8), Number(event.i64(0))] : undefined,
    ).filter((pop) => pop !== undefined);
    expect(pops).toEqual(marks.toReversed());
    expect([...checkTrace(traceDir)]).toEqual([]);
  });

  it.each([1, 3] as const)('finishes a stream whose ring is gone, version %i', async (version) => {
    const { traceDir, stream, ring, metadata } = await killed({ version, marks: [[3, 7]] });
    // What the ring holds reaches the file, and the ring is lost before the end is written.
    const page = readFileSync(ring);
    const head = Number(page.readBigUInt64LE(128));
    const control = page.readUInt32LE(12);
    appendFileSync(stream, page.subarray(control, control + head));
    appendFileSync(stream, Buffer.from('\0OB.half'));
    rmSync(ring);
    const { streams, faults } = recoverTrace(traceDir);
    expect(faults).toEqual([]);
    expect(streams).toMatchObject([{ addedRecords: 2, endedMarks: 1, cutBytes: 8 }]);
    expect([...checkTrace(traceDir)]).toEqual([]);
    expect(readFileSync(metadata, 'utf8')).not.toContain('"writer"');
    expect(recoverTrace(traceDir)).toEqual({ streams: [], emptied: [], faults: [] });
  });

  it.each([1, 3] as const)(
    'deletes the directory of a thread that had just begun, version %i',
    async (version) => {
      const { traceDir, stream } = await killed({ version });
      const process = dirname(version === 3 ? dirname(stream) : stream);
      const begun = join(process, 'thread.4000001');
      const other = join(process, 'thread.4000002');
      mkdirSync(begun);
      mkdirSync(other);
      writeFileSync(join(other, 'notes'), 'of somebody else');
      const { emptied, faults, streams } = recoverTrace(traceDir);
      expect(faults).toEqual([]);
      expect(streams).toHaveLength(1);
      expect(emptied).toEqual([begun]);
      expect([existsSync(begun), existsSync(other), existsSync(stream)]).toEqual([
        false,
        true,
        true,
      ]);
    },
  );

  it('says how many records the thread had dropped, because its ring was full', async () => {
    const { traceDir, ring } = await killed({ version: 3 });
    const page = readFileSync(ring);
    page.writeDoubleLE(17, control.droppedEvents);
    writeFileSync(ring, page);
    expect(recoverTrace(traceDir)).toMatchObject({ dropped: 17, faults: [] });
  });

  it('leaves a stream alone whose ring lies elsewhere, and says where', async () => {
    const { traceDir, stream, ring, metadata } = await killed({ version: 3 });
    const elsewhere = join(traceDir, 'elsewhere.ring');
    writeFileSync(elsewhere, readFileSync(ring));
    writeFileSync(metadata, readFileSync(metadata, 'utf8').replace(ring, elsewhere));
    rmSync(ring);
    const before = readFileSync(stream);
    const { streams, faults } = recoverTrace(traceDir);
    expect(streams).toEqual([]);
    expect(faults.map(({ message }) => message)).toEqual([expect.stringContaining(elsewhere)]);
    expect(readFileSync(stream)).toEqual(before);
  });

  it('leaves a stream alone whose process is alive', async () => {
    const { traceDir, ring, metadata } = await killed({ version: 3 });
    rmSync(ring);
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]!;
    const text = readFileSync(metadata, 'utf8');
    writeFileSync(
      metadata,
      text
        .replace(/("writer":\{"pid":)\d+/, `$1${process.pid}`)
        .replace(/("start":")\d+/, `$1${start}`),
    );
    expect(() => recoverTrace(traceDir)).toThrow(
      expect.objectContaining({ code: 'ERR_ORDER', value: process.pid }),
    );
    // The same pid, and another process.
    writeFileSync(metadata, text.replace(/("writer":\{"pid":)\d+/, `$1${process.pid}`));
    expect(recoverTrace(traceDir).faults).toEqual([]);
  });

  it('takes away metadata that was half written', async () => {
    const { traceDir, metadata } = await killed({ version: 3 });
    writeFileSync(join(metadata, '../.stream.json.new'), '{"version": 3, "ov');
    recoverTrace(traceDir);
    expect(readdirSync(join(metadata, '..')).sort()).toEqual(['stream.json', 'stream.obs']);
    expect(existsSync(metadata)).toBe(true);
  });

  it('completes its own beside a stream whose metadata another library left half written', async () => {
    const { traceDir, metadata } = await killed({ version: 3 });
    const other = join(metadata, '../../thread.99');
    mkdirSync(other);
    writeFileSync(join(other, 'stream.json'), '{"version": 3, "ov');
    writeFileSync(join(other, 'stream.obs'), 'ovni\x01\0\0\0 half');
    const { streams, faults } = recoverTrace(traceDir);
    expect(faults).toEqual([]);
    expect(streams).toHaveLength(1);
    expect(readFileSync(join(other, 'stream.json'), 'utf8')).toBe('{"version": 3, "ov');
    expect(readFileSync(join(other, 'stream.obs'), 'utf8')).toBe('ovni\x01\0\0\0 half');
  });
});
