import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TraceFormatError } from '../../../src/core/errors.js';
import { callNamed, calls } from '../../../src/dumpi/calls.js';
import { checkTrace } from '../../../src/dumpi/read/check.js';
import { dump } from '../../../src/dumpi/read/dump.js';
import { dumpi2ascii } from '../../../src/dumpi/read/dumpi2ascii.js';
import { INDEX_BYTES, INDEX_ENTRIES } from '../../../src/dumpi/layout.js';
import { CallCursor, readCalls } from '../../../src/dumpi/read/reader.js';
import { readSections } from '../../../src/dumpi/read/section-reader.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';
import { anyArguments } from '../any-arguments.js';
import { builtTrace } from '../trace-building.js';

const directory = temporaryDirectory();
const path = join(directory, 'hostile.bin');

function write(bytes: Uint8Array): string {
  writeFileSync(path, bytes);
  return path;
}

/** The error that reading a file ends in, and how many calls came before. */
function fault(bytes: Uint8Array): { error: TraceFormatError | undefined; read: number } {
  write(bytes);
  let read = 0;
  try {
    for (const call of readCalls(path)) read += call.size > 0 ? 1 : 0;
    return { error: undefined, read };
  } catch (error) {
    if (!(error instanceof TraceFormatError)) throw error;
    return { error, read };
  }
}

/** Every way to read a file: each ends by itself or in a TraceFormatError. */
function readAll(bytes: Uint8Array): void {
  write(bytes);
  for (const all of [
    () => dump(path, false),
    () => dump(path, true),
    () => dumpi2ascii(path),
    () => [readSections(path)],
  ]) {
    try {
      for (const each of all()) expect(each).toBeDefined();
    } catch (error) {
      if (!(error instanceof TraceFormatError)) throw error;
      expect(error.path).toBe(path);
      expect(error.offset).toBeGreaterThanOrEqual(0);
      expect(error.offset).toBeLessThanOrEqual(bytes.length);
    }
  }
  for (const finding of checkTrace(path)) expect(finding.path).toBe(path);
}

const everyCall = builtTrace({
  calls: calls.map((call) => ({
    name: call.name,
    mask: 0xcf,
    counters: [[1n, 2n]],
    fields: fc.sample(anyArguments(call), { numRuns: 1, seed: call.label })[0]!,
  })),
  counterLabels: ['cycles'],
  keyvals: [['key', 'value']],
  datatypeSizes: [0, 1, 4],
  functionNames: [{ address: 7n, name: 'main' }],
});

describe('files that are not whole', () => {
  it('reads the file that the others are made of', () => {
    expect(fault(everyCall)).toEqual({ error: undefined, read: calls.length });
  });

  it('refuses every file that is cut', () => {
    fc.assert(
      fc.property(fc.nat(everyCall.length - 1), (length) => {
        const { error } = fault(everyCall.subarray(0, length));
        expect(error).toBeInstanceOf(TraceFormatError);
      }),
      { numRuns: 200 },
    );
  });

  it('survives bits and bytes that are changed', () => {
    const change = fc.tuple(fc.nat(everyCall.length - 1), fc.nat(0xff));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = Buffer.from(everyCall);
        for (const [at, value] of changes) bytes[at] = value;
        readAll(bytes);
      }),
      { numRuns: 60 },
    );
  });

  it('survives random bytes between a magic and an index', () => {
    const index = everyCall.subarray(-64);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) => {
        readAll(Buffer.concat([everyCall.subarray(0, 16), bytes, index]));
      }),
      { numRuns: 100 },
    );
  });

  it('refuses an empty file and one without magic', () => {
    expect(fault(Buffer.alloc(0)).error?.message).toContain('does not begin with the magic');
    expect(fault(Buffer.alloc(200)).error?.message).toContain('does not begin with the magic');
  });

  it('says that a file without index is cut or its process dead', () => {
    const { error } = fault(everyCall.subarray(0, 2000));
    expect(error?.field).toBe('index');
    expect(error?.message).toContain('tracewright recover');
  });
});

describe('senseless values', () => {
  /** The error of a body with these bytes in place of its calls. */
  const bodyFault = (...bytes: number[]): unknown => {
    const cursor = new CallCursor(write(Buffer.from([...new Array<number>(16).fill(0), ...bytes])));
    try {
      return cursor.next();
    } catch (error) {
      return error;
    } finally {
      cursor.close();
    }
  };

  it('names the label that no call has, with its place', () => {
    for (const label of [128, 290, 294, 0xffff]) {
      const error = bodyFault(label >> 8, label & 0xff, 0);
      expect(error).toBeInstanceOf(TraceFormatError);
      expect(error).toMatchObject({ offset: 16, field: 'label', value: label });
    }
  });

  it('refuses counts beyond the file without taking memory for them', () => {
    const { label } = callNamed('MPI_Startall')!;
    for (const count of [0x7fff_ffff, 0x1000_0000, 100_000]) {
      const bytes = [count >>> 24, count >> 16, count >> 8, count].map((byte) => byte & 0xff);
      const error = bodyFault(0, label, 0, 0, 0, 0, 1, ...bytes);
      expect(error).toMatchObject({ offset: 16, field: 'requests', value: count });
    }
    const error = bodyFault(0, label, 0, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff);
    expect(error).toMatchObject({ offset: 16, field: 'requests', value: -1 });
  });

  it.each([
    ['more elements', 2 ** 20 + 1, 0, { field: 'function names', value: 2 ** 20 + 1 }],
    ['longer elements', 2000, 0xffff, { code: 'ERR_TRACE_FORMAT' }],
  ])('refuses a section with %s than any library writes', (_, count, length, error) => {
    const indexOffset = everyCall.length - INDEX_BYTES;
    const index = Buffer.from(everyCall.subarray(indexOffset));
    index.writeBigUInt64BE(BigInt(indexOffset), 8 * (1 + INDEX_ENTRIES.indexOf('functionNames')));
    const names = Buffer.alloc(4 + count * (10 + length));
    names.writeInt32BE(count);
    for (let i = 0; i < count; i++) names.writeUInt16BE(length, 4 + i * (10 + length) + 8);
    const file = write(Buffer.concat([everyCall.subarray(0, indexOffset), names, index]));
    expect(() => readSections(file)).toThrow(expect.objectContaining({ ...error, path: file }));
  });

  it('refuses a call that is larger than the reader was told to take', () => {
    write(
      builtTrace({
        calls: [
          { name: 'MPI_Init', mask: 0, fields: { argv: ['a'] } },
          {
            name: 'MPI_Init',
            mask: 0,
            fields: { argv: ['x'.repeat(300_000), 'b'.repeat(300_000)] },
          },
        ],
      }),
    );
    expect([...readCalls(path)]).toHaveLength(2);
    const calls = readCalls(path, { maxRecordBytes: 400_000 });
    expect(calls.next().value?.name).toBe('MPI_Init');
    expect(() => calls.next()).toThrow(/more than the 400000 bytes/);
  });

  it('refuses an index that points outside the file', () => {
    for (const offset of [1n, BigInt(everyCall.length), 2n ** 63n]) {
      const bytes = Buffer.from(everyCall);
      bytes.writeBigUInt64BE(offset, bytes.length - 24);
      expect(fault(bytes).error).toMatchObject({ field: 'body', value: offset });
    }
  });

  it('refuses a body without end, and an index without body', () => {
    const bytes = Buffer.from(builtTrace({}));
    bytes.writeUInt16BE(callNamed('MPI_Wtime')!.label, 16);
    expect(fault(bytes).error).toBeInstanceOf(TraceFormatError);
    bytes.writeBigUInt64BE(0n, bytes.length - 24);
    expect(fault(bytes).error).toMatchObject({ field: 'body' });
  });
});

describe('older indexes', () => {
  it.each([1, 2, 3])('reads an index that lacks the first %i entries', (lacking) => {
    write(builtTrace({ header: { version: [0, 6, 4] }, keyvals: [['a', 'b']], lacking }));
    const { index, header, keyvals } = readSections(path);
    expect(header?.version).toEqual([0, 6, 4]);
    expect(keyvals).toEqual([['a', 'b']]);
    expect([...readCalls(path)]).toEqual([]);
    const counts = [index.datatypeSizes, index.functionNames, index.counterLabels];
    expect(counts.map((offset) => offset > 0)).toEqual([0, 1, 2].map((i) => i >= lacking));
  });
});
