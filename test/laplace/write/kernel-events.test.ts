import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kernelEventShapes } from '../../../src/laplace/kernel-event-kinds.js';
import { openKernelEvents } from '../../../src/laplace/write/kernel-events.js';
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
