import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { openKernelEvents } from '../../src/laplace/write/kernel-events.js';
import type { KernelEvents } from '../../src/laplace/write/kernel-events.js';
import { readKernelEvents } from '../../src/laplace/read/kernel-reader.js';
import type { KernelEvent } from '../../src/laplace/read/kernel-reader.js';
import { readReferences } from '../../src/laplace/read/reference-reader.js';
import { openReferences } from '../../src/laplace/write/references.js';
import { fileIn, temporaryDirectory } from './temporary-directory.js';

const directory = temporaryDirectory();
const T = 0x123456789abcdef0n;
const LINE = 'r 123456789abcdef0 4 9f8e7 9a8b7c6d\n';
const FIELDS = { type: 'r', timestamp: T, length: 4, space: 0x9f8e7, address: 0x9a8b7c6d };

/** The record of the example, byte by byte. */
const LITTLE = '72f0debc9a7856341204e7f809006d7c8b9a';
const BIG = '72123456789abcdef0040009f8e79a8b7c6d';

describe('the reference of the specification', () => {
  it.each([
    ['little', LITTLE],
    ['big', BIG],
  ] as const)('is written %s-endian and read', (endian, hex) => {
    const path = fileIn(directory);
    const references = openReferences(path, { endian });
    references.load(T, 4, 0x9f8e7, 0x9a8b7c6d);
    references.close();
    expect(readFileSync(path).toString('hex')).toBe(hex);
    expect([...readReferences(path, { endian })]).toEqual([{ ...FIELDS, offset: 0 }]);
  });

  it('is written as a line and read', () => {
    const path = fileIn(directory);
    const references = openReferences(path, { form: 'text' });
    references.load(T, 4, 0x9f8e7, 0x9a8b7c6d);
    references.close();
    expect(readFileSync(path, 'latin1')).toBe(LINE);
    expect([...readReferences(path, { form: 'text' })]).toEqual([{ ...FIELDS, offset: 0 }]);
  });
});

const file = { inode: 0x1a2b3c4dn, major: 0x35, minor: 5 };

/** Every kernel record that the specification shows, in its order. */
const examples: [string, (kernel: KernelEvents) => void, object][] = [
  [
    's 123456789abcdef0 100',
    (kernel) => {
      kernel.schedule(T, 0x100);
    },
    { kind: 'schedule', task: 0x100 },
  ],
  [
    'F 123456789abcdef0 100 77',
    (kernel) => {
      kernel.fork(T, 0x100, 0x77);
    },
    { kind: 'fork', task: 0x100, newTask: 0x77 },
  ],
  [
    'T 123456789abcdef0 100',
    (kernel) => {
      kernel.exit(T, 0x100);
    },
    { kind: 'exit', task: 0x100 },
  ],
  [
    'X 123456789abcdef0 100 1a2b3b4c 35 5 foobar.so',
    (kernel) => {
      kernel.execute(T, 0x100, 0x1a2b3b4c, 0x35, 5, 'foobar.so');
    },
    {
      kind: 'execute',
      task: 0x100,
      inode: 0x1a2b3b4cn,
      major: 0x35,
      minor: 5,
      fileName: 'foobar.so',
    },
  ],
  [
    'A 123456789abcdef0 100 1a2b3',
    (kernel) => {
      kernel.assignAddressSpace(T, 0x100, 0x1a2b3);
    },
    { kind: 'assignAddressSpace', task: 0x100, space: 0x1a2b3 },
  ],
  [
    // Its end lies below its start.
    'D 123456789abcdef0 1a2b3 9f8e7 56f73000 56f8000',
    (kernel) => {
      kernel.duplicateRange(T, 0x1a2b3, 0x9f8e7, 0x56f73000, 0x56f8000);
    },
    {
      kind: 'duplicateRange',
      fromSpace: 0x1a2b3,
      toSpace: 0x9f8e7,
      start: 0x56f73000n,
      end: 0x56f8000n,
    },
  ],
  [
    'M 123456789abcdef0 100 1a2b3c4d 9000 8efa5567 35 5 1029384756afbecd foobar.so',
    (kernel) => {
      kernel.mapFile(
        T,
        0x100,
        0x1a2b3c4d,
        0x9000,
        0x8efa5567,
        0x35,
        5,
        0x1029384756afbecdn,
        'foobar.so',
      );
    },
    {
      kind: 'mapFile',
      task: 0x100,
      address: 0x1a2b3c4dn,
      length: 0x9000n,
      inode: 0x8efa5567n,
      major: 0x35,
      minor: 5,
      fileOffset: 0x1029384756afbecdn,
      fileName: 'foobar.so',
    },
  ],
  [
    'm 123456789abcdef0 100 1a2b3c4d 9000',
    (kernel) => {
      kernel.mapAnonymous(T, 0x100, 0x1a2b3c4d, 0x9000);
    },
    { kind: 'mapAnonymous', task: 0x100, address: 0x1a2b3c4dn, length: 0x9000n },
  ],
  [
    'S 123456789abcdef0 100 1a2b3c4d 9000 8912ef45',
    (kernel) => {
      kernel.attachSharedMemory(T, 0x100, 0x1a2b3c4d, 0x9000, 0x8912ef45);
    },
    {
      kind: 'attachSharedMemory',
      task: 0x100,
      address: 0x1a2b3c4dn,
      length: 0x9000n,
      segment: 0x8912ef45,
    },
  ],
  [
    'U 123456789abcdef0 100 1a2b3c4d 9000',
    (kernel) => {
      kernel.unmap(T, 0x100, 0x1a2b3c4d, 0x9000);
    },
    { kind: 'unmap', task: 0x100, address: 0x1a2b3c4dn, length: 0x9000n },
  ],
  [
    'u 123456789abcdef0 1a2b3',
    (kernel) => {
      kernel.unmapAll(T, 0x1a2b3);
    },
    { kind: 'unmapAll', space: 0x1a2b3 },
  ],
  [
    'C 123456789abcdef0 100 1a2b3000',
    (kernel) => {
      kernel.copyOnWrite(T, 0x100, 0x1a2b3000);
    },
    { kind: 'copyOnWrite', task: 0x100, address: 0x1a2b3000n },
  ],
  [
    'B 123456789abcdef0 c1234000',
    (kernel) => {
      kernel.allocateBufferCache(T, 0xc1234000);
    },
    { kind: 'allocateBufferCache', page: 0xc1234000n },
  ],
  [
    'b 123456789abcdef0 d9898000',
    (kernel) => {
      kernel.freeBufferCache(T, 0xd9898000);
    },
    { kind: 'freeBufferCache', page: 0xd9898000n },
  ],
  [
    'p 123456789abcdef0 dc102000',
    (kernel) => {
      kernel.freeFilesystemCache(T, 0xdc102000);
    },
    { kind: 'freeFilesystemCache', page: 0xdc102000n },
  ],
  [
    'P 123456789abcdef0 dc102000 1a2b3c4d 35 5 1029384756afbecd',
    (kernel) => {
      kernel.allocateFilesystemCache(T, 0xdc102000, 0x1a2b3c4d, 0x35, 5, 0x1029384756afbecdn);
    },
    {
      kind: 'allocateFilesystemCache',
      page: 0xdc102000n,
      ...file,
      fileOffset: 0x1029384756afbecdn,
    },
  ],
  [
    '( 123456789abcdef0 100 1a2b3c4d 35 5 bazquux.txt',
    (kernel) => {
      kernel.openFile(T, 0x100, 0x1a2b3c4d, 0x35, 5, 'bazquux.txt');
    },
    { kind: 'openFile', task: 0x100, ...file, fileName: 'bazquux.txt' },
  ],
  [
    ') 123456789abcdef0 100 1a2b3c4d 35 5',
    (kernel) => {
      kernel.closeFile(T, 0x100, 0x1a2b3c4d, 0x35, 5);
    },
    { kind: 'closeFile', task: 0x100, ...file },
  ],
  [
    '< 123456789abcdef0 100 1a2b3c4d 35 5 1029384756afbecd e012',
    (kernel) => {
      kernel.readFile(T, 0x100, 0x1a2b3c4d, 0x35, 5, 0x1029384756afbecdn, 0xe012);
    },
    { kind: 'readFile', task: 0x100, ...file, fileOffset: 0x1029384756afbecdn, length: 0xe012n },
  ],
  [
    '> 123456789abcdef0 105 1a2b3c4d 35 5 1029384756afbeff 1b1b',
    (kernel) => {
      kernel.writeFile(T, 0x105, 0x1a2b3c4d, 0x35, 5, 0x1029384756afbeffn, 0x1b1b);
    },
    { kind: 'writeFile', task: 0x105, ...file, fileOffset: 0x1029384756afbeffn, length: 0x1b1bn },
  ],
  [
    '- 123456789abcdef0 1a2b3c4d 35 5',
    (kernel) => {
      kernel.deleteFile(T, 0x1a2b3c4d, 0x35, 5);
    },
    { kind: 'deleteFile', ...file },
  ],
];

describe('the kernel records of the specification', () => {
  it.each(examples)('%s', (line, emit, fields) => {
    const path = fileIn(directory);
    const kernel = openKernelEvents(path);
    emit(kernel);
    kernel.close();
    expect(readFileSync(path, 'latin1')).toBe(`${line}\nc\n`);
    const events: KernelEvent[] = [...readKernelEvents(path)];
    expect(events).toEqual([
      { ...fields, tag: line[0], timestamp: T, offset: 0 },
      { kind: 'end', tag: 'c', offset: line.length + 1 },
    ]);
  });

  it('in one trace, which ends as the text does, without a newline', () => {
    const path = fileIn(directory);
    const kernel = openKernelEvents(path);
    for (const [, emit] of examples) emit(kernel);
    kernel.close();
    const text = [...examples.map(([line]) => line), 'c'].join('\n');
    expect(readFileSync(path, 'latin1')).toBe(`${text}\n`);
    const copy = fileIn(directory);
    writeFileSync(copy, text);
    expect([...readKernelEvents(copy)]).toEqual([...readKernelEvents(path)]);
    expect(examples).toHaveLength(21);
  });
});
