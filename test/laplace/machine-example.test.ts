import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkKernelEvents, checkReferences } from '../../src/laplace/read/check.js';
import { readKernelEvents } from '../../src/laplace/read/kernel-reader.js';
import { readReferences } from '../../src/laplace/read/reference-reader.js';
import { temporaryDirectory } from './temporary-directory.js';

const example = fileURLToPath(new URL('../../examples/laplace-machine.mjs', import.meta.url));
const program = fileURLToPath(new URL('../../examples/laplace-program.bin', import.meta.url));
const CODE = 0x1_0000;
const HEAP = 0x10_0000;

describe('examples/laplace-machine.mjs', () => {
  const directory = temporaryDirectory();
  const texts = [`${'ab'.repeat(3000)}b`, 'xyzzy\n'];
  const files = texts.map((text, i) => {
    const file = join(directory, `text ${i}`);
    writeFileSync(file, text);
    return file;
  });
  const output = execFileSync(process.execPath, [example, directory, ...files], {
    encoding: 'utf8',
  });
  const references = join(directory, 'machine.references');
  const kernel = join(directory, 'machine.kernel.txt');

  it('executes the program', () => {
    expect(output).toContain(`${files[0]}: the most frequent byte is "b"`);
    expect(output).toContain(`${files[1]}: the most frequent byte is "y"`);
    expect(output).toContain('npx tracewright dump');
  });

  it('traces its fetches, loads and stores', () => {
    expect([...checkReferences(references)]).toEqual([]);
    const codeEnd = CODE + readFileSync(program).length;
    const counts = new Map<number, { fetches: number; byteLoads: number; countStores: number }>();
    let last = -1n;
    for (const { type, timestamp, length, space, address } of readReferences(references)) {
      const count = counts.get(space) ?? { fetches: 0, byteLoads: 0, countStores: 0 };
      counts.set(space, count);
      if (type === 'i') {
        // Each instruction is a cycle, whichever task executes it.
        expect(timestamp).toBe(last + 1n);
        last = timestamp;
        expect(address >= CODE && address + length <= codeEnd).toBe(true);
        count.fetches += 1;
      } else {
        expect(timestamp).toBe(last);
        if (type === 'r' && length === 1) count.byteLoads += 1;
        if (type === 'w' && length === 4 && address >= HEAP && address < HEAP + 0x2000) {
          count.countStores += 1;
        }
      }
    }
    const fetches = [...counts.values()].reduce((sum, count) => sum + count.fetches, 0);
    expect(output).toContain(`${fetches} instructions were executed`);
    // The program loads each byte once and stores its count.
    texts.forEach((text, i) => {
      const count = counts.get(0x101 + i);
      expect(count).toMatchObject({ byteLoads: text.length, countStores: text.length });
    });
  });

  it('traces the kernel under it', () => {
    expect([...checkKernelEvents(kernel)]).toEqual([]);
    const events = [...readKernelEvents(kernel)];
    files.forEach((file, i) => {
      const task = i + 1;
      const own = events.filter((event) => 'task' in event && event.task === task);
      const kinds = own.map(({ kind }) => kind).filter((kind) => kind !== 'schedule');
      const reads = own.filter((event) => event.kind === 'readFile');
      expect(kinds).toEqual([
        'assignAddressSpace',
        'execute',
        'mapFile',
        'mapAnonymous',
        'mapAnonymous',
        'openFile',
        ...reads.map(() => 'readFile'),
        'closeFile',
        'writeFile',
        'exit',
      ]);
      expect(own.find(({ kind }) => kind === 'openFile')).toMatchObject({ fileName: file });
      const total = reads.reduce((sum, { length }) => sum + length, 0n);
      expect(total).toBe(BigInt(texts[i]!.length));
    });
    expect(events.filter(({ kind }) => kind === 'schedule').length).toBeGreaterThan(2);
    expect(events.at(-1)).toMatchObject({ kind: 'end' });
  });
});
