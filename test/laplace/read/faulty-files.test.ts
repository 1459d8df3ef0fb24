import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TraceFormatError } from '../../../src/core/errors.js';
import { checkKernelEvents, checkReferences } from '../../../src/laplace/read/check.js';
import {
  referencesToText,
  textToReferences,
} from '../../../src/laplace/read/convert-references.js';
import { readKernelEvents } from '../../../src/laplace/read/kernel-reader.js';
import { readReferences } from '../../../src/laplace/read/reference-reader.js';
import { fileIn, temporaryDirectory } from '../temporary-directory.js';

const directory = temporaryDirectory();

describe('faulty files', () => {
  it.each([
    ['r 1 2 3\n', 0, 'space'],
    ['r 1 2 3 4\nr 1 2 3 4 5\n', 10, 'address'],
    ['r 1 2 3 4\nr 1 100 3 4\n', 10, 'length'],
    ['r 12345678901234567 2 3 4\n', 0, 'timestamp'],
    ['r  1 2 3 4\n', 0, 'timestamp'],
    ['r 1 2 123456789 4\n', 0, 'space'],
    ['\n', 0, 'type'],
    ['\u0001 1 2 3 4\n', 0, 'type'],
    ['r 1 2 3 4\r\n', 0, 'address'],
    ['r 1 2 3 4', 0, 'line'],
    [`r ${'1'.repeat(2_000_000)}`, 0, 'line'],
  ])('text %j', async (text, offset, field) => {
    const path = fileIn(directory);
    writeFileSync(path, text);
    const fault = expect.objectContaining({ name: 'TraceFormatError', offset, field }) as Error;
    expect(() => [...readReferences(path, { form: 'text' })]).toThrow(fault);
    await expect(textToReferences(path, fileIn(directory))).rejects.toThrow(fault);
  });

  it.each([
    ['s 1\n', 0, 'task'],
    ['s 1 2 3\n', 0, 'line'],
    ['s 1 2', 0, 'line'],
    ['s 1 123456789\n', 0, 'task'],
    ['X 1 2 3 4 5\n', 0, 'fileName'],
    ['X 1 2 3 4 5 \n', 0, 'fileName'],
    ['\x07 1 2\n', 0, 'tag'],
    ['\n', 0, 'tag'],
    ['c 1\n', 0, 'end'],
    ['c\nc\n', 2, 'end'],
    ['s 1 2\ns 1 z\n', 6, 'task'],
    [`X 1 2 3 4 5 ${'x'.repeat(1_000_000)}`, 0, 'line'],
  ])('kernel %j', (text, offset, field) => {
    const path = fileIn(directory);
    writeFileSync(path, text);
    expect(() => [...readKernelEvents(path)]).toThrow(
      expect.objectContaining({ name: 'TraceFormatError', offset, field }),
    );
  });

  it('binary', async () => {
    const path = fileIn(directory);
    writeFileSync(path, Buffer.concat([Buffer.alloc(18, 'r'), Buffer.alloc(10, 'r')]));
    const cut = expect.objectContaining({ name: 'TraceFormatError', offset: 18 }) as Error;
    expect(() => [...readReferences(path)]).toThrow(cut);
    await expect(referencesToText(path, fileIn(directory))).rejects.toThrow(cut);
    writeFileSync(path, Buffer.concat([Buffer.alloc(36, 'r'), Buffer.alloc(18)]));
    const type = expect.objectContaining({ field: 'type', offset: 36 }) as Error;
    expect(() => [...readReferences(path)]).toThrow(type);
    await expect(referencesToText(path, fileIn(directory))).rejects.toThrow(type);
  });

  it('never end otherwise than in records or a TraceFormatError', () => {
    const tokens = fc.constantFrom(
      'r',
      's',
      'c',
      'X',
      'M',
      ' ',
      '\n',
      '0',
      'f',
      '123456789abcdef0',
      'name',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc.array(tokens, { maxLength: 60 }).map((all) => Buffer.from(all.join(''))),
        ),
        (bytes) => {
          const path = fileIn(directory);
          writeFileSync(path, bytes);
          const readers = [
            () => [...readReferences(path)],
            () => [...readReferences(path, { form: 'text' })],
            () => [...readKernelEvents(path)],
          ];
          for (const read of readers) {
            try {
              read();
            } catch (error) {
              expect(error).toBeInstanceOf(TraceFormatError);
            }
          }
          [...checkReferences(path), ...checkReferences(path, { form: 'text' })].forEach((each) => {
            expect(each.path).toBe(path);
          });
          expect([...checkKernelEvents(path)].length).toBeGreaterThanOrEqual(0);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('check', () => {
  it('tells of timestamps that go backwards, of either trace', () => {
    const text = fileIn(directory);
    writeFileSync(text, 'r 5 4 1 1\nr 123456789a 4 1 1\nw 4 4 1 1\nq 6 4 1 1\n');
    expect([...checkReferences(text, { form: 'text' })]).toMatchObject([
      { severity: 'warning', rule: 'timestamp-backwards', offset: 29 },
      { severity: 'warning', rule: 'unknown-type', offset: 39 },
    ]);
    const kernel = fileIn(directory);
    writeFileSync(kernel, 's 5 1\ns 4 1\n');
    expect([...checkKernelEvents(kernel)]).toMatchObject([
      { severity: 'warning', rule: 'timestamp-backwards', offset: 6 },
      { severity: 'error', rule: 'no-end' },
    ]);
  });

  it('says what cannot be read, and where, once', () => {
    const path = fileIn(directory);
    writeFileSync(path, Buffer.alloc(23, 'r'));
    expect([...checkReferences(path)]).toEqual([
      {
        severity: 'error',
        rule: 'unreadable',
        message: 'the file ends inside a record: 5 of 18 bytes',
        path,
        offset: 18,
      },
    ]);
  });

  it('finds nothing in a good trace', () => {
    const kernel = fileIn(directory);
    writeFileSync(kernel, 's 4 1\ns 4 1\ns 5 1\nc\n');
    expect([...checkKernelEvents(kernel)]).toEqual([]);
  });
});
