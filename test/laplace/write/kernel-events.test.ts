import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kernelEventShapes } from '../../../src/laplace/kernel-event-kinds.js';
import { openKernelEvents } from '../../../src/laplace/write/kernel-events.js';
import { checkKernelEvents } from '../../../src/laplace/read/check.js';
import { readKernelEvents } from '../../../src/laplace/read/kernel-reader.js';
import { kernelEvent } from '../arbitrary-records.js';
import { fileIn, temporaryDirectory } from '../temporary-directory.js';

const directory = temporaryDirectory();

describe('a kernel trace', () => {
  it('gives back every kind of record, with its end behind all', () => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(fc.array(kernelEvent, { maxLength: 60 }), (all) => {
        const path = fileIn(directory);
        const kernel = openKernelEvents(path, { ringBytes: 65_536 });
        for (const { emit, kind } of all) {
          emit(kernel);
          kinds.add(kind);
        }
        kernel.flush();
        expect([...readKernelEvents(path)].some(({ kind }) => kind === 'end')).toBe(false);
        kernel.close();
        kernel.close();
        const read = [...readKernelEvents(path)];
        expect(read.map(({ offset, ...fields }) => [offset >= 0, fields])).toEqual([
          ...all.map(({ fields }) => [true, fields]),
          [true, { kind: 'end', tag: 'c' }],
        ]);
        expect(readFileSync(path, 'utf8').endsWith('c\n')).toBe(true);
      }),
      { numRuns: 100 },
    );
    expect(kinds.size).toBe(kernelEventShapes.length);
  });

  it.each([
    ...[' ', '  a  ', ' 35 5 b', 'c', 's 1 2', 'a\tb', 'a\u0085b', 'a\u2028b', '\ufeffa', '\ufffd'],
    ...['\u{1f600}', 'ä'.repeat(8192), ' '.repeat(16_384)],
  ])('gives back the file name %j', (name) => {
    const path = fileIn(directory);
    const kernel = openKernelEvents(path);
    kernel.execute(1, 2, 3, 4, 5, name);
    kernel.mapFile(1, 2, 3, 4, 5, 6, 7, 8, name);
    kernel.openFile(1, 2, 3, 4, 5, name);
    kernel.close();
    const names = [...readKernelEvents(path)].map((event) => 'fileName' in event && event.fileName);
    expect(names).toEqual([name, name, name, false]);
    expect([...checkKernelEvents(path)]).toEqual([]);
  });

  it('of another program keeps a CR in a file name, of which check warns', () => {
    const path = fileIn(directory);
    writeFileSync(path, 'X 1 2 3 4 5 foobar.so\r\nc\n');
    const [event] = readKernelEvents(path);
    expect(event).toMatchObject({ fileName: 'foobar.so\r' });
    expect([...checkKernelEvents(path)].map(({ severity, rule }) => [severity, rule])).toEqual([
      ['warning', 'file-name'],
    ]);
  });

  it.each([0n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n])(
    'gives back %d in every field of 64 bits',
    (value) => {
      const path = fileIn(directory);
      const kernel = openKernelEvents(path);
      kernel.mapFile(value, 1, value, value, value, 2, 3, value, 'f');
      kernel.close();
      expect(readFileSync(path, 'latin1').split(' ')[1]).toBe(value.toString(16));
      const [event] = readKernelEvents(path);
      expect(event).toMatchObject({
        timestamp: value,
        address: value,
        length: value,
        inode: value,
        fileOffset: value,
      });
    },
  );

  it("takes Tracewright's clock where no timestamp is given", () => {
    const path = fileIn(directory);
    const kernel = openKernelEvents(path, { clock: 'monotonic' });
    const before = process.hrtime.bigint();
    kernel.schedule(undefined, 1);
    kernel.execute(undefined, 1, 2, 3, 4, 'a name with spaces');
    kernel.close();
    const after = process.hrtime.bigint();
    let last = before;
    for (const event of readKernelEvents(path)) {
      if (event.kind === 'end') continue;
      expect(event.timestamp).toBeGreaterThanOrEqual(last);
      last = event.timestamp;
    }
    expect(last).toBeGreaterThan(0n);
    expect(last).toBeLessThanOrEqual(after);
  });

  it('that is longer than its ring', () => {
    const path = fileIn(directory);
    const kernel = openKernelEvents(path, { ringBytes: 65_536 });
    const count = 20_000;
    for (let i = 0; i < count; i++) kernel.readFile(i, 1, 2, 3, 4, i * 2 ** 32, 4096);
    kernel.close();
    let next = 0;
    for (const event of readKernelEvents(path)) {
      if (event.kind === 'end') continue;
      expect(event.kind === 'readFile' && event.fileOffset === BigInt(next * 2 ** 32)).toBe(true);
      next += 1;
    }
    expect(next).toBe(count);
  });
});
