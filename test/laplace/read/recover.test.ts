import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RingFile } from '../../../src/core/recovery/ring-file.js';
import { openKernelEvents } from '../../../src/laplace/write/kernel-events.js';
import { readKernelEvents } from '../../../src/laplace/read/kernel-reader.js';
import { ringCandidates } from '../../../src/laplace/file-names.js';
import { recoverTrace } from '../../../src/laplace/read/recover.js';
import { readReferences } from '../../../src/laplace/read/reference-reader.js';
import { openReferences } from '../../../src/laplace/write/references.js';
import { runFixture } from '../../fixtures/run-fixture.js';
import { fileIn, temporaryDirectory } from '../temporary-directory.js';

const directory = temporaryDirectory();

function ringsBeside(path: string): string[] {
  return readdirSync(dirname(path)).filter((name) => name.startsWith(`.${basename(path)}.`));
}

/** As if the process had been killed in the midst of the write after its last. */
function writeHalf(path: string, ringDir: string | undefined): void {
  for (const candidate of ringCandidates(path, ringDir)) {
    const ring = RingFile.open(candidate.path);
    if (!(ring instanceof RingFile)) throw new Error('the ring is not ready');
    if (candidate.streamOf(ring) === path) {
      appendFileSync(path, ring.content.read(ring, ring.tail, Math.min(ring.head, ring.tail + 6)));
    }
    ring.close();
  }
}

describe('the traces of a process that was killed', () => {
  // Once while all is still in the rings, and once with most of it written.
  it.each([
    ['binary', 100, false],
    ['binary', 40_000, true],
    ['text', 100, true],
    ['text', 40_000, false],
  ] as const)('%s, %i records, rings elsewhere: %s', async (form, count, elsewhere) => {
    const references = fileIn(directory);
    const kernel = fileIn(directory);
    const ringDir = elsewhere ? fileIn(directory) : undefined;
    if (ringDir !== undefined) mkdirSync(ringDir);
    const input = { references, kernel, form, count, ringDir };
    const { signal } = await runFixture('laplace/killed.mjs', { input });
    expect(signal).toBe('SIGKILL');
    for (const path of [references, kernel]) writeHalf(path, ringDir);
    const options = ringDir === undefined ? {} : { ringDir };
    const first = recoverTrace(references, { ...options, kind: form });
    expect(first.faults).toEqual([]);
    expect(first.streams).toHaveLength(1);
    const second = recoverTrace(kernel, { ...options, kind: 'kernel' });
    expect(second.streams).toMatchObject([{ path: kernel, addedRecords: 1 }]);
    // Again: nothing is left to do.
    expect(recoverTrace(references, { ...options, kind: form }).streams).toEqual([]);
    expect(recoverTrace(kernel, { ...options, kind: 'kernel' }).streams).toEqual([]);

    const numbers = [...readReferences(references, { form })].map(({ address }) => address);
    expect(numbers).toEqual(Array.from({ length: count }, (_, n) => n));
    const events = [...readKernelEvents(kernel)];
    expect(events.length).toBe(count + 1);
    expect(events.at(-1)).toMatchObject({ kind: 'end' });
    expect([...ringsBeside(references), ...ringsBeside(kernel)]).toEqual([]);
    if (ringDir !== undefined) expect(readdirSync(ringDir)).toEqual([]);
  });

  it('are completed by the next process that finds them in its place', async () => {
    const references = fileIn(directory);
    const kernel = fileIn(directory);
    await runFixture('laplace/killed.mjs', {
      input: { references, kernel, form: 'binary', count: 50 },
    });
    expect(() => openReferences(references)).toThrow(
      expect.objectContaining({ code: 'ERR_TRACE_EXISTS' }),
    );
    expect([...readReferences(references)]).toHaveLength(50);
    const again = openKernelEvents(kernel, { exists: 'replace' });
    again.schedule(1, 2);
    again.close();
    expect(readFileSync(kernel, 'latin1')).toBe('s 1 2\nc\n');
  });
});

describe('traces without a ring', () => {
  it.each([
    ['binary', Buffer.alloc(40, 'r'), Buffer.alloc(36, 'r')],
    ['text', 'r 1 2 3 4\nr 5 6', 'r 1 2 3 4\n'],
    ['text', 'r 1', ''],
    ['kernel', 's 1 2\nT 3', 's 1 2\nc\n'],
    ['kernel', 's 1 2\n', 's 1 2\nc\n'],
    ['kernel', 's 1 2\nc', 's 1 2\nc'],
    ['kernel', 's 1 2\nc\n', 's 1 2\nc\n'],
    ['kernel', '', 'c\n'],
  ] as const)('%s: half a record is cut, an end added', (kind, before, after) => {
    const path = fileIn(directory);
    writeFileSync(path, before);
    recoverTrace(path, { kind });
    expect(readFileSync(path, 'latin1')).toBe(Buffer.from(after as string).toString('latin1'));
    expect(recoverTrace(path, { kind }).streams).toEqual([]);
  });

  it('are left as they are where nobody says what they are', () => {
    const path = fileIn(directory);
    writeFileSync(path, 's 1 2\nT');
    expect(recoverTrace(path).streams).toEqual([]);
    expect(readFileSync(path, 'latin1')).toBe('s 1 2\nT');
  });
});

describe('the place of a trace', () => {
  it('that this process writes is taken, also for replacing', () => {
    const path = fileIn(directory);
    const references = openReferences(path);
    for (const exists of ['error', 'replace'] as const) {
      expect(() => openReferences(path, { exists })).toThrow(
        expect.objectContaining({ code: 'ERR_TRACE_EXISTS' }),
      );
    }
    expect(() => recoverTrace(path)).toThrow(expect.objectContaining({ code: 'ERR_ORDER' }));
    references.load(1, 1, 1, 1);
    references.close();
    expect([...readReferences(path)]).toHaveLength(1);
  });

  it('whose trace was removed but not its ring is free', async () => {
    const references = fileIn(directory);
    const kernel = fileIn(directory);
    await runFixture('laplace/killed.mjs', {
      input: { references, kernel, form: 'binary', count: 50 },
    });
    rmSync(references);
    expect(ringsBeside(references)).toHaveLength(1);
    const again = openReferences(references);
    again.load(1, 1, 1, 1);
    again.close();
    expect([...readReferences(references)]).toHaveLength(1);
    expect(existsSync(join(directory, `.${basename(references)}.ring`))).toBe(false);
  });
});
