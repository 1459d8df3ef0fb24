import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkKernelEvents } from '../../../src/laplace/read/check.js';
import { openReferences } from '../../../src/laplace/write/references.js';
import { fileIn, temporaryDirectory } from '../temporary-directory.js';

const program = fileURLToPath(new URL('../fixtures/piped.mjs', import.meta.url));
const directory = temporaryDirectory();
const RECORD_BYTES = 18;
/** Many times what pipe and ring hold together. */
const COUNT = 100_000;
const O_NONBLOCK = 0o4000;

/** The bytes of the first references of the program. */
function references(count: number): Buffer {
  const bytes = Buffer.alloc(count * RECORD_BYTES);
  for (let n = 0; n < count; n++) {
    const at = n * RECORD_BYTES;
    bytes.write('r', at);
    bytes.writeBigUInt64LE(BigInt(n), at + 1);
    bytes[at + 9] = 4;
    bytes.writeUInt32LE(1, at + 10);
    bytes.writeUInt32LE(n, at + 14);
  }
  return bytes;
}

interface Wanted {
  to: unknown;
  count: number;
  ending: 'close' | 'exit' | 'idle' | 'stuck';
  nonBlocking?: boolean;
  kernel?: boolean;
}

function start(wanted: Wanted, stdio: StdioOptions = ['ignore', 'ignore', 'pipe']): ChildProcess {
  return spawn(process.execPath, [program, JSON.stringify(wanted)], { stdio });
}

interface Said {
  dropped: number;
  faults: string[];
  flags: number;
  flush?: string;
  cpuMs?: number;
}

async function said(child: ChildProcess): Promise<Said> {
  let text = '';
  child.stderr!.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect([code, signal, text.includes('{') ? '' : text]).toEqual([0, null, '']);
  return JSON.parse(text.slice(text.indexOf('{'))) as Said;
}

function makePipe(): string {
  const path = fileIn(directory, '.pipe');
  execFileSync('mkfifo', [path]);
  return path;
}

/** Reads a pipe in pieces that fit no record, to a file. */
function readSlowly(pipe: string): { done: Promise<unknown>; bytes: () => Buffer } {
  const out = fileIn(directory, '.read');
  const child = spawn('dd', [`if=${pipe}`, `of=${out}`, 'bs=777', 'status=none']);
  return { done: once(child, 'close'), bytes: () => readFileSync(out) };
}

describe('references to a pipe', () => {
  it('wait for a reader that comes late and reads slowly, and lose nothing', async () => {
    const pipe = makePipe();
    const writer = start({ to: pipe, count: COUNT, ending: 'close' });
    const result = said(writer);
    const { done, bytes } = readSlowly(pipe);
    expect(await result).toMatchObject({ dropped: 0, faults: [] });
    await done;
    expect(bytes().equals(references(COUNT))).toBe(true);
  });

  it.each(['close', 'exit'] as const)('are whole where the process ends: %s', async (ending) => {
    const pipe = makePipe();
    const { done, bytes } = readSlowly(pipe);
    await said(start({ to: pipe, count: COUNT, ending }));
    await done;
    expect(bytes().equals(references(COUNT))).toBe(true);
  });

  it('cost nothing while nobody reads', async () => {
    const pipe = makePipe();
    const result = said(start({ to: pipe, count: 100, ending: 'idle' }));
    // What is written before is read at the end, which waits for the reader.
    const { done, bytes } = readSlowly(pipe);
    expect((await result).cpuMs).toBeLessThan(400);
    await done;
    expect(bytes().equals(references(100))).toBe(true);
  });

  it('end a signal at once, though the reader is stuck', async () => {
    const pipe = makePipe();
    const held = openSync(pipe, 'r+');
    const writer = start({ to: pipe, count: 5000, ending: 'stuck' });
    await once(writer.stderr!, 'data');
    writer.kill('SIGTERM');
    const [code, signal] = (await once(writer, 'close')) as [number | null, string | null];
    closeSync(held);
    expect([code, signal]).toEqual([null, 'SIGTERM']);
  });

  it.skipIf(process.getuid?.() !== 0)('refuse the pipe of another user', () => {
    const pipe = makePipe();
    chownSync(pipe, 12_345, 12_345);
    expect(() => openReferences(pipe)).toThrow(/not a regular file|exists/);
  });
});

describe('references to standard output', () => {
  const reader = (bytes: number): Promise<Buffer> =>
    new Promise((resolve) => {
      const child = start({ to: '/dev/stdout', count: bytes, ending: 'exit' }, [
        'ignore',
        'pipe',
        'ignore',
      ]);
      const pieces: Buffer[] = [];
      child.stdout!.on('data', (piece: Buffer) => pieces.push(piece));
      child.once('close', () => {
        resolve(Buffer.concat(pieces));
      });
    });

  it('reach the other end of a socket', async () => {
    expect((await reader(COUNT)).equals(references(COUNT))).toBe(true);
  });

  it.each([false, true])('reach a pipe that is non-blocking: %s', async (nonBlocking) => {
    const pipe = makePipe();
    const { done, bytes } = readSlowly(pipe);
    const fd = openSync(pipe, 'w');
    const child = start({ to: { fd: 1 }, count: COUNT, ending: 'close', nonBlocking }, [
      'ignore',
      fd,
      'pipe',
    ]);
    closeSync(fd);
    const { flags, dropped } = await said(child);
    expect([(flags & O_NONBLOCK) !== 0, dropped]).toEqual([nonBlocking, 0]);
    await done;
    expect(bytes().equals(references(COUNT))).toBe(true);
  });

  it('follow what a file has already', async () => {
    const path = fileIn(directory);
    const fd = openSync(path, 'w');
    writeSync(fd, 'before');
    await said(start({ to: '/dev/fd/1', count: 1000, ending: 'exit' }, ['ignore', fd, 'pipe']));
    writeSync(fd, 'after');
    closeSync(fd);
    const whole = Buffer.concat([Buffer.from('before'), references(1000), Buffer.from('after')]);
    expect(readFileSync(path).equals(whole)).toBe(true);
  });

  it('say so when the reader goes away, and do not spin', async () => {
    const pipe = makePipe();
    const head = spawn('head', ['-c', '1000', pipe], { stdio: 'ignore' });
    const gone = said(start({ to: pipe, count: COUNT, ending: 'close' }));
    await once(head, 'close');
    const { dropped, flush } = await gone;
    expect(flush).toMatch(/ERR_SYSTEM.*Broken pipe/);
    expect(dropped).toBeGreaterThan(0);
    const other = makePipe();
    const second = spawn('head', ['-c', '1000', other], { stdio: 'ignore' });
    const idle = said(start({ to: other, count: COUNT, ending: 'idle' }));
    await once(second, 'close');
    const { cpuMs, faults } = await idle;
    expect(faults).toEqual(['EPIPE']);
    expect(cpuMs).toBeLessThan(400);
  });

  it('are refused where nothing can be written', () => {
    const path = fileIn(directory);
    writeFileSync(path, '');
    const fd = openSync(path, 'r');
    expect(() => openReferences({ fd })).toThrow(/EBADF/);
    closeSync(fd);
    expect(() => openReferences({ fd: -1 })).toThrow(/path\.fd/);
    expect(() => openReferences({ fd: 1, path: 'x' } as never)).toThrow(/path/);
  });
});

it.each(['close', 'exit'] as const)('kernel events end a pipe with c: %s', async (ending) => {
  const pipe = makePipe();
  const { done, bytes } = readSlowly(pipe);
  await said(start({ to: pipe, count: COUNT, ending, kernel: true }));
  await done;
  const file = fileIn(directory, '.kernel.txt');
  writeFileSync(file, bytes());
  expect([...checkKernelEvents(file)]).toEqual([]);
  expect(bytes().toString().split('\n')).toHaveLength(COUNT + 2);
});
