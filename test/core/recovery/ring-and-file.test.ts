import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { endianness, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { TraceFormatError } from '../../../src/core/errors.js';
import type { Recovery } from '../../../src/core/recovery/recovery.js';
import { RingFile } from '../../../src/core/recovery/ring-file.js';
import { core } from '../../../src/core/addon.js';
import { recoverTrace as recoverDumpi } from '../../../src/dumpi/read/recover.js';
import { recoverTrace as recoverLaplace } from '../../../src/laplace/read/recover.js';
import { recoverTrace as recoverOvni } from '../../../src/ovni/read/recover.js';
import { runFixture } from '../../fixtures/run-fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-ring-and-file-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

interface Left {
  file: string;
  ring: string;
  recover: () => Recovery;
}

async function ovni(place: string, version: 1 | 3): Promise<Left> {
  const traceDir = join(place, 'ovni');
  await runFixture('ovni/killed-state.mjs', {
    input: { traceDir, version, cpu: -1, states: ['OHx', 'OHp', 'OHr'], marks: [] },
  });
  const thread = join(traceDir, 'loom.node.1/proc.1');
  return {
    file: join(thread, version === 3 ? 'thread.1/stream.obs' : 'thread.1'),
    ring: join(thread, version === 3 ? 'thread.1/.stream.ring' : '.thread.1.ring'),
    recover: () => recoverOvni(traceDir),
  };
}

/** What a killed process leaves of a trace with a file that is fed by one ring. */
const formats: Record<string, (place: string) => Promise<Left>> = {
  'ovni 1': (place) => ovni(place, 1),
  'ovni 3': (place) => ovni(place, 3),
  async dumpi(place) {
    await runFixture('dumpi-killed.mjs', { input: { directory: place, count: 5, end: 'kill' } });
    const ring = readdirSync(place).find((name) => name.endsWith('.bin.ring'))!;
    return {
      file: join(place, ring.slice(1, -'.ring'.length)),
      ring: join(place, ring),
      recover: () => recoverDumpi(place),
    };
  },
  async laplace(place) {
    const kernel = join(place, 'kernel');
    const input = { references: join(place, 'references'), kernel, form: 'text', count: 8 };
    await runFixture('laplace/killed.mjs', { input });
    return {
      file: kernel,
      ring: join(place, '.kernel.ring'),
      recover: () => recoverLaplace(kernel),
    };
  },
};

function opened(path: string): RingFile {
  const ring = RingFile.open(path);
  if (!(ring instanceof RingFile)) throw new Error('the ring is not ready');
  return ring;
}

/** A killed trace whose ring had reached its file, and the page of that ring. */
async function drained(format: string): Promise<Left & { page: Buffer; head: number }> {
  const left = await formats[format]!(mkdtempSync(join(folder, 'run-')));
  const ring = opened(left.ring);
  appendFileSync(left.file, ring.content.read(ring, ring.tail, ring.head));
  const { head } = ring;
  ring.close();
  expect(head).toBeGreaterThan(12);
  const page = patched(readFileSync(left.ring), core.control.tail, head);
  writeFileSync(left.ring, page);
  return { ...left, page, head };
}

function patched(page: Buffer, field: number, value: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(page);
  new DataView(bytes.buffer, bytes.byteOffset).setBigUint64(
    field,
    BigInt(value),
    endianness() === 'LE',
  );
  return bytes;
}

describe.runIf(process.platform === 'linux').each(Object.keys(formats))(
  'a ring of %s',
  (format) => {
    it('that says less than its file holds takes nothing from it', async () => {
      const { file, ring, page, recover } = await drained(format);
      const before = readFileSync(file);
      for (const head of [0, 12]) {
        const { control } = core;
        writeFileSync(ring, patched(patched(page, control.head, head), control.tail, head));
        const { faults, streams, emptied } = recover();
        expect({ streams, emptied }).toEqual({ streams: [], emptied: [] });
        expect(faults).toMatchObject([{ code: 'ERR_TRACE_FORMAT', path: file, field: 'head' }]);
        expect(readFileSync(file)).toEqual(before);
        expect(existsSync(ring)).toBe(true);
      }
      writeFileSync(ring, page);
      expect(recover()).toMatchObject({ faults: [], streams: [{ path: file, bytes: 0 }] });
      expect(readFileSync(file).subarray(0, before.length)).toEqual(before);
    });

    it('overwrites nothing with something else', async () => {
      const { file, ring, page, recover } = await drained(format);
      const before = readFileSync(file);
      // As if the drain thread had been killed between the write and the note of it.
      const half = patched(page, core.control.tail, 12);
      const other = Buffer.from(half);
      other[core.control.bytes + 20]! ^= 1;
      writeFileSync(ring, other);
      expect(recover()).toMatchObject({ faults: [{ path: file }], streams: [], emptied: [] });
      expect(readFileSync(file)).toEqual(before);
      writeFileSync(ring, half);
      expect(recover()).toMatchObject({ faults: [], streams: [{ path: file }] });
      expect(readFileSync(file).subarray(0, before.length)).toEqual(before);
    });

    it('of a file that has lost its end stays, and so does the file', async () => {
      const { file, ring, recover } = await drained(format);
      const page = readFileSync(ring);
      for (const bytes of [0, 9, statSync(file).size - 1]) {
        truncateSync(file, bytes);
        const before = readFileSync(file);
        for (let i = 0; i < 2; i++) {
          const { faults, streams, emptied } = recover();
          expect({ streams, emptied }).toEqual({ streams: [], emptied: [] });
          expect(faults).toMatchObject([{ path: file, field: 'size' }]);
          expect(faults[0]!.message).toContain('has lost its end');
        }
        expect(readFileSync(file).equals(before)).toBe(true);
        expect(readFileSync(ring).equals(page)).toBe(true);
      }
    });

    it('that is filled with zeros stays, and so does the file', async () => {
      const { file, ring, page, head, recover } = await drained(format);
      const size = statSync(file).size;
      const data = page.readUInt32LE(core.control.controlBytes);
      // As if the last records had not been written yet.
      truncateSync(file, size - head);
      for (const from of [0, data]) {
        const zeroed = patched(page, core.control.tail, 0).fill(0, from);
        writeFileSync(ring, zeroed);
        const before = readFileSync(file);
        const { faults, streams, emptied } = recover();
        const isBegun = before.length > 16;
        if (from === 0 && !isBegun) continue;
        expect({ streams, emptied }).toEqual({ streams: [], emptied: [] });
        expect(faults[0]!.message).toContain('filled with zeros');
        expect(readFileSync(file).equals(before)).toBe(true);
        expect(readFileSync(ring).equals(zeroed)).toBe(true);
      }
    });

    it('of a file with a block of zeros stays, and so does the file', async () => {
      const { file, ring, recover } = await drained(format);
      const zeroed = readFileSync(file);
      zeroed.fill(0, zeroed.length >> 1);
      writeFileSync(file, zeroed);
      const page = readFileSync(ring);
      for (let i = 0; i < 2; i++) {
        const { faults, streams, emptied } = recover();
        expect({ streams, emptied }).toEqual({ streams: [], emptied: [] });
        expect(faults).toMatchObject([{ code: 'ERR_TRACE_FORMAT', path: file }]);
        // Zeros are calls of DUMPI, up to one that is cut.
        if (format === 'dumpi') continue;
        expect(faults[0]!.message).toContain('a block of zeros begins here, or in the');
        const { offset } = faults[0] as TraceFormatError;
        expect(offset).toBeGreaterThan(0);
        expect(offset - (zeroed.length >> 1)).toBeLessThan(28);
        expect(zeroed.subarray(offset).every((byte) => byte === 0)).toBe(true);
      }
      expect(readFileSync(file).equals(zeroed)).toBe(true);
      if (format !== 'dumpi') expect(readFileSync(ring).equals(page)).toBe(true);
    });

    it('takes half of a record that was being written past it away', async () => {
      const { file, ring, head, recover } = await drained(format);
      const before = readFileSync(file);
      appendFileSync(file, Buffer.alloc(5000, 0x5a));
      expect(recover().faults).toMatchObject([{ field: 'head' }]);
      const { claimFrom, claimOffset, claimTo } = core.control;
      const noted = { [claimFrom]: head, [claimTo]: head + 8000, [claimOffset]: 8000 };
      let page = readFileSync(ring);
      for (const [field, value] of Object.entries(noted))
        page = patched(page, Number(field), value);
      writeFileSync(ring, page);
      expect(recover()).toMatchObject({ faults: [], streams: [{ path: file }] });
      const after = readFileSync(file);
      expect(after.subarray(0, before.length)).toEqual(before);
      expect(after.includes(Buffer.alloc(12, 0x5a))).toBe(false);
    });
  },
);
