import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { kernelEventShapes } from '../../../src/laplace/kernel-event-kinds.js';
import { checkKernelEvents } from '../../../src/laplace/read/check.js';
import { dumpLine, dumpObject } from '../../../src/laplace/read/dump.js';
import { readKernelEvents } from '../../../src/laplace/read/kernel-reader.js';
import { openKernelEvents } from '../../../src/laplace/write/kernel-events.js';
import { tracewright } from '../../cli/run-command.js';
import { fileIn, temporaryDirectory } from '../temporary-directory.js';

const directory = temporaryDirectory();
const RESTS = ['', ' ', '1a2b3c4d 35 5', ' two  spaces ', 'naïve \u{1f600}', 'x'.repeat(16_384)];

function rulesOf(path: string): string[] {
  return [...checkKernelEvents(path)].map(({ severity, rule }) => `${severity} ${rule}`);
}

describe('an event that the catalog does not have', () => {
  it('comes back as it was given, in bytes, reader, dump and check', () => {
    const path = fileIn(directory, '.kernel.txt');
    const kernel = openKernelEvents(path);
    kernel.event('Z', 0x1234_5678_9abc_def0n, '100 w\x1b[2J');
    kernel.event('~', 2 ** 53 - 1, '');
    kernel.schedule(1, 2);
    kernel.event('Z', 16, '');
    kernel.close();
    expect(readFileSync(path, 'latin1')).toBe(
      'Z 123456789abcdef0 100 w\x1b[2J\n~ 1fffffffffffff\ns 1 2\nZ 10\nc\n',
    );
    const [first, second, , third] = [...readKernelEvents(path)];
    const timestamp = 0x1234_5678_9abc_def0n;
    expect(first).toEqual({ kind: 'event', tag: 'Z', timestamp, rest: '100 w\x1b[2J', offset: 0 });
    expect(second).toMatchObject({ kind: 'event', tag: '~', rest: '' });
    expect(dumpLine(first!)).toBe('123456789abcdef0 event Z rest "100 w\\u001b[2J"');
    expect(dumpObject(third!)).toMatchObject({ kind: 'event', tag: 'Z', timestamp: 16, rest: '' });
    // Each tag once.
    expect(rulesOf(path)).toEqual([
      'warning unknown-tag',
      'warning timestamp-backwards',
      'warning unknown-tag',
      'warning timestamp-backwards',
    ]);
    const { status, stdout } = tracewright('dump', path);
    expect(status).toBe(0);
    expect(stdout).toContain('\n  1fffffffffffff event ~ rest ""\n');
    expect(tracewright('check', path).status).toBe(0);
    const picture = fileIn(directory, '.pftrace');
    expect(tracewright('convert', '--to', 'perfetto', path, picture).status).toBe(0);
    expect(readFileSync(picture, 'utf8')).toContain('event Z');
  });

  it.each(RESTS)('takes the rest %j', (rest) => {
    const path = fileIn(directory);
    const kernel = openKernelEvents(path, { ringBytes: 65_536 });
    for (let n = 0; n < 20; n++) kernel.event('!', n, rest);
    kernel.event('!', undefined, rest);
    kernel.close();
    const events = [...readKernelEvents(path)];
    expect(events).toHaveLength(22);
    for (const event of events.slice(0, -1)) expect(event).toMatchObject({ rest });
  });

  it('refuses tags of the catalog, what is no tag, and what ends a line', () => {
    const path = fileIn(directory);
    const kernel = openKernelEvents(path);
    const emit = kernel.event as (...values: unknown[]) => void;
    const ranges: unknown[][] = [
      ...[...kernelEventShapes.map(({ tag }) => tag), 'c'].map((tag) => [tag, 1, '']),
      ...['', ' ', 'ZZ', '\n', '\x7f', 'é', '\0'].map((tag) => [tag, 1, '']),
      ...['\n', 'a\r', 'a\0b', '\ud800', 'x'.repeat(16_385), 'é'.repeat(8193)].map((rest) => [
        'Z',
        1,
        rest,
      ]),
      ...[-1, 0.5, 2 ** 53, 2n ** 64n].map((timestamp) => ['Z', timestamp, '']),
    ];
    for (const values of ranges) {
      expect(() => {
        emit(...values);
      }).toThrow(expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE' }) as Error);
    }
    for (const values of [
      [1, 1, ''],
      ['Z', '1', ''],
      ['Z', 1],
      ['Z', 1, 2],
    ]) {
      expect(() => {
        emit(...values);
      }).toThrow(expect.objectContaining({ code: 'ERR_ARGUMENT_TYPE' }) as Error);
    }
    kernel.close();
    expect(readFileSync(path, 'latin1')).toBe('c\n');
    expect(() => {
      emit('Z', 1, '');
    }).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }) as Error);
  });

  it.each(['Z\n', 'Z 1g\n', 'Z  1\n', 'Zz 1\n', '\x01 1\n', 'Z 1 a\0\n'])('is none: %j', (line) => {
    const path = fileIn(directory);
    writeFileSync(path, `${line}c\n`);
    expect(rulesOf(path)).toEqual(['error unreadable']);
  });
});

it.each([
  ['s 1 2\nc\n', []],
  ['s 1 2\nc', ['warning end-newline']],
  ['c', ['warning end-newline']],
])('the end %j', (text, rules) => {
  const path = fileIn(directory);
  writeFileSync(path, text);
  expect(rulesOf(path)).toEqual(rules);
});
