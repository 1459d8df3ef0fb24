import { readFileSync, writeFileSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  referencesToText,
  textToReferences,
} from '../../../src/laplace/read/convert-references.js';
import { readReferences } from '../../../src/laplace/read/reference-reader.js';
import { openReferences } from '../../../src/laplace/write/references.js';
import type { References } from '../../../src/laplace/write/references.js';
import { linesByHand, packedByHand, reference } from '../arbitrary-records.js';
import type { AnyReference } from '../arbitrary-records.js';
import { fileIn, temporaryDirectory } from '../temporary-directory.js';

const directory = temporaryDirectory();
const forms = [
  ['binary', 'little'],
  ['binary', 'big'],
  ['text', 'little'],
  ['text', 'big'],
] as const;

function emit(to: References, { type, timestamp, length, space, address }: AnyReference): void {
  if (type === 'r') to.load(timestamp, length, space, address);
  else if (type === 'w') to.store(timestamp, length, space, address);
  else if (type === 'i') to.fetch(timestamp, length, space, address);
  else to.reference(type, timestamp, length, space, address);
}

function expectedBytes(
  references: AnyReference[],
  form: 'binary' | 'text',
  endian: 'little' | 'big',
): string {
  return form === 'text'
    ? linesByHand(references)
    : packedByHand(references, endian).toString('latin1');
}

describe.each(forms)('a reference trace, %s, %s-endian', (form, endian) => {
  it('holds what was recorded, and gives it back', () => {
    fc.assert(
      fc.property(fc.array(reference, { maxLength: 50 }), (all) => {
        const path = fileIn(directory);
        const references = openReferences(path, { form, endian, ringBytes: 65_536 });
        for (const each of all) emit(references, each);
        references.close();
        expect(readFileSync(path, 'latin1')).toBe(expectedBytes(all, form, endian));
        const read = [...readReferences(path, { form, endian })];
        expect(read.map(({ offset, ...fields }) => [offset >= 0, fields])).toEqual(
          all.map((each) => [true, { ...each, timestamp: BigInt(each.timestamp) }]),
        );
      }),
      { numRuns: 60 },
    );
  });

  it('takes batches, packed and of arrays', () => {
    fc.assert(
      fc.property(fc.array(reference, { maxLength: 50 }), (all) => {
        const path = fileIn(directory);
        const references = openReferences(path, { form, endian, ringBytes: 65_536 });
        references.batch(packedByHand(all, endian));
        references.batch({
          type: Uint8Array.from(all, ({ type }) => type.charCodeAt(0)),
          timestamp: BigUint64Array.from(all, ({ timestamp }) => BigInt(timestamp)),
          length: Uint8Array.from(all, ({ length }) => length),
          space: Uint32Array.from(all, ({ space }) => space),
          address: Uint32Array.from(all, ({ address }) => address),
        });
        references.close();
        const once = expectedBytes(all, form, endian);
        expect(readFileSync(path, 'latin1')).toBe(once + once);
      }),
      { numRuns: 60 },
    );
  });

  it('takes batches of shared memory, in the middle of it', () => {
    const path = fileIn(directory);
    const references = openReferences(path, { form, endian });
    const all = [1, 2, 3].map((n) => ({
      type: 'w',
      timestamp: n,
      length: 4,
      space: 5,
      address: n,
    }));
    const packed = packedByHand(all, endian);
    const shared = new Uint8Array(new SharedArrayBuffer(packed.length + 7), 5, packed.length);
    shared.set(packed);
    references.batch(shared);
    const sharedNumbers = new Uint32Array(new SharedArrayBuffer(20), 8, 3);
    sharedNumbers.set([1, 2, 3]);
    references.batch({
      type: 'w',
      timestamp: sharedNumbers,
      length: new Uint8Array(new SharedArrayBuffer(20), 3, 3).fill(4),
      space: 5,
      address: Uint32Array.of(0, 1, 2, 3).subarray(1),
    });
    references.close();
    const once = expectedBytes(all, form, endian);
    expect(readFileSync(path, 'latin1')).toBe(once + once);
  });

  it('takes batches many times as large as its ring', () => {
    const count = 50_000;
    const all = Array.from({ length: count }, (_, i) => ({
      type: 'w',
      timestamp: i * 0x1_0000_0001,
      length: 4,
      space: 7,
      address: (i * 2_654_435_761) >>> 0,
    }));
    const path = fileIn(directory);
    const references = openReferences(path, { form, endian, ringBytes: 65_536 });
    references.batch(packedByHand(all, endian));
    references.batch({
      type: 'w',
      timestamp: Float64Array.from(all, ({ timestamp }) => timestamp),
      length: 4,
      space: 7,
      address: Uint32Array.from(all, ({ address }) => address),
    });
    references.load(1, 2, 3, 4);
    references.close();
    const once = expectedBytes(all, form, endian);
    const last = { type: 'r', timestamp: 1, length: 2, space: 3, address: 4 };
    expect(readFileSync(path, 'latin1') === once + once + expectedBytes([last], form, endian)).toBe(
      true,
    );
    expect(references.dropped).toBe(0);
  });

  it("takes Tracewright's clock where no timestamp is given", () => {
    const path = fileIn(directory);
    const references = openReferences(path, { form, endian });
    const before = process.hrtime.bigint();
    references.load(undefined, 4, 1, 2);
    references.reference('x', undefined, 4, 1, 2);
    references.batch({ type: 'i', length: 1, space: 1, address: new Uint32Array(3) });
    references.store(undefined, 4, 1, 2);
    references.flush();
    const after = process.hrtime.bigint();
    const read = [...readReferences(path, { form, endian })];
    references.close();
    expect(read.map(({ type }) => type)).toEqual(['r', 'x', 'i', 'i', 'i', 'w']);
    // The scaled clock may differ from the kernel's by less than this.
    const slack = 1_000_000n;
    let last = before - slack;
    for (const { timestamp } of read) {
      expect(timestamp).toBeGreaterThanOrEqual(last);
      expect(timestamp).toBeLessThanOrEqual(after + slack);
      last = timestamp;
    }
    expect(new Set(read.slice(2, 5).map(({ timestamp }) => timestamp)).size).toBe(1);
  });

  it('counts what a full ring turns away when it is told to drop', () => {
    const path = fileIn(directory);
    const references = openReferences(path, { form, endian, ringBytes: 65_536, onFull: 'drop' });
    const count = 100_000;
    references.batch({
      type: 'r',
      timestamp: new Uint32Array(count).fill(9),
      length: 4,
      space: 7,
      address: new Uint32Array(count),
    });
    for (let i = 0; i < count; i++) references.load(9, 4, 7, 0);
    references.close();
    const read = [...readReferences(path, { form, endian })];
    expect(read.length + references.dropped).toBe(2 * count);
  });
});

describe.each(['little', 'big'] as const)('conversion, %s-endian', (endian) => {
  it('of binary to text to binary is the identity', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(reference, { maxLength: 60 }), async (all) => {
        const [binary, text, again] = [fileIn(directory), fileIn(directory), fileIn(directory)];
        const packed = packedByHand(all, endian);
        writeFileSync(binary, packed);
        const there = await referencesToText(binary, text, { endian });
        const lines = linesByHand(all);
        expect(there).toEqual({ records: all.length, bytes: lines.length });
        expect(readFileSync(text, 'latin1')).toBe(lines);
        const back = await textToReferences(text, again, { endian });
        expect(back).toEqual({ records: all.length, bytes: packed.length });
        expect(readFileSync(again).equals(packed)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('goes through streams, wherever their pieces end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(reference, { minLength: 1, maxLength: 30 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }),
        async (all, sizes) => {
          const pieces = (bytes: Buffer): Readable =>
            Readable.from(
              (function* () {
                for (let at = 0, i = 0; at < bytes.length; i++) {
                  const size = sizes[i % sizes.length]!;
                  yield bytes.subarray(at, at + size);
                  at += size;
                }
              })(),
            );
          const packed = packedByHand(all, endian);
          const through = async (run: typeof referencesToText, input: Buffer): Promise<Buffer> => {
            const output = new PassThrough();
            const collected = buffer(output);
            await run(pieces(input), output, { endian });
            output.end();
            return collected;
          };
          const text = await through(referencesToText, packed);
          expect(text.toString('latin1')).toBe(linesByHand(all));
          expect((await through(textToReferences, text)).equals(packed)).toBe(true);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('of more records than fit a chunk, with progress', async () => {
    const count = 200_000;
    const packed = Buffer.alloc(18 * count);
    for (let i = 0; i < count; i++) {
      packed[18 * i] = 0x72;
      packed.writeUInt32LE((i * 2_654_435_761) >>> 0, 18 * i + 14);
      packed.writeUInt32LE(i % 1000, 18 * i + 1 + (i % 5));
    }
    const [binary, text, again] = [fileIn(directory), fileIn(directory), fileIn(directory)];
    writeFileSync(binary, packed);
    const seen: number[] = [];
    await referencesToText(binary, text, {
      endian,
      onProgress: (done, total) => {
        expect(total).toBe(packed.length);
        seen.push(done);
      },
    });
    expect(seen.at(-1)).toBe(packed.length);
    expect(seen.length).toBeGreaterThan(1);
    expect([...seen].sort((a, b) => a - b)).toEqual(seen);
    await textToReferences(text, again, { endian });
    expect(readFileSync(again).equals(packed)).toBe(true);
  });
});

describe('a text trace of another writer', () => {
  it('may have capitals and leading zeros', async () => {
    const [text, binary, again] = [fileIn(directory), fileIn(directory), fileIn(directory)];
    writeFileSync(text, 'r 00000000000000AB 04 0000000C 0000ABCD\n');
    await textToReferences(text, binary);
    await referencesToText(binary, again);
    expect(readFileSync(again, 'latin1')).toBe('r ab 4 c abcd\n');
    expect([...readReferences(text, { form: 'text' })]).toEqual([
      { type: 'r', timestamp: 0xabn, length: 4, space: 12, address: 0xabcd, offset: 0 },
    ]);
  });
});
