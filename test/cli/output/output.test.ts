import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { ProgressLine } from '../../../src/cli/output/progress-line.js';
import { ClosedPipe, TextOutput } from '../../../src/cli/output/text-output.js';

describe('TextOutput', () => {
  it('takes no more while the stream has not taken what it has', async () => {
    const waiting: (() => void)[] = [];
    let written = 0;
    const slow = new Writable({
      write(chunk: Buffer, _, done) {
        written += chunk.length;
        waiting.push(done);
      },
    });
    const output = new TextOutput(slow);
    const line = 'x'.repeat(1000);
    let lines = 0;
    const writing = (async () => {
      for (; lines < 1000; lines++) await output.write(line);
      await output.flush();
    })();
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    // One chunk is with the stream and nothing is taken behind it.
    expect(waiting).toHaveLength(1);
    expect(lines).toBeLessThan(100);
    while (lines < 1000 || waiting.length > 0) {
      waiting.shift()?.();
      await new Promise(setImmediate);
    }
    await writing;
    expect(written).toBe(1_000_000);
  });

  it('tells a closed pipe from other errors', async () => {
    const failing = (code: string): TextOutput =>
      new TextOutput(
        new Writable({
          write(_chunk, _encoding, done) {
            done(Object.assign(new Error(`${code}: it failed`), { code }));
          },
        }),
        'out.json',
      );
    const pipe = failing('EPIPE');
    await pipe.write('x');
    await expect(pipe.flush()).rejects.toBeInstanceOf(ClosedPipe);
    const disk = failing('ENOSPC');
    await disk.write('x');
    await expect(disk.end()).rejects.toThrow('cannot write out.json: ENOSPC: it failed');
  });
});

describe('ProgressLine', () => {
  const terminal = (isTTY: boolean): NodeJS.WriteStream =>
    Object.assign(new PassThrough(), { isTTY, columns: 20 }) as unknown as NodeJS.WriteStream;
  const shown = (stream: NodeJS.WriteStream): string =>
    String((stream as unknown as PassThrough).read() ?? '');

  it('shows a line that fits a terminal, now and then, and takes it away', () => {
    const stream = terminal(true);
    const line = new ProgressLine(true, stream);
    const progress = line.of('a-trace-with-a-long-name.heph')!;
    let calls = 0;
    for (; stream.readableLength === 0; calls++) progress(1, 3);
    expect(calls).toBeGreaterThan(1);
    expect(shown(stream)).toBe('\r\u001b[K 33 % a-trace-with-');
    line.clear();
    expect(shown(stream)).toBe('\r\u001b[K');
    line.clear();
    expect(shown(stream)).toBe('');
  });

  it('tells how much it has read of what has no size', () => {
    const stream = terminal(true);
    const progress = new ProgressLine(true, stream).of('of standard input')!;
    while (stream.readableLength === 0) progress(12_345_678, 0);
    expect(shown(stream)).toBe('\r\u001b[K12 MB of standard i');
  });

  it('shows nothing where there is no terminal, or where it is not wanted', () => {
    expect(new ProgressLine(true, terminal(false)).of('trace')).toBeUndefined();
    expect(new ProgressLine(false, terminal(true)).of('trace')).toBeUndefined();
  });
});
