import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeEpoch, encodeEvent, someEvent } from '../../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../../heph/temporary-file.js';
import { main, tracewright } from '../run-command.js';
import { writeOvniTrace } from '../small-ovni-trace.js';

const directory = temporaryDirectory();
const epoch = encodeEpoch(1610113734118010000n);
const event = encodeEvent(someEvent({ substream: 2n ** 60n, description: 'GET /' }));

describe('tracewright dump', { timeout: 60_000 }, () => {
  it('prints a line for each packet of a Heph file', () => {
    const path = writeTrace(directory, 'one.heph', epoch, event);
    expect(tracewright('dump', path)).toEqual({
      status: 0,
      stderr: '',
      stdout:
        `# Heph trace ${path}\n` +
        'metadata "epoch" = 1610113734118010000 ns (2021-01-08T13:48:54.118010000Z)\n' +
        'event stream 0 substream 1152921504606846976 #0 100..200 ns (100 ns) "GET /"\n',
    });
  });

  it('prints a JSON object for each packet with --json', () => {
    const path = writeTrace(directory, 'one.heph', epoch, event);
    const { status, stdout } = tracewright('dump', '--json', path);
    expect(status).toBe(0);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
    ).toMatchObject([
      { kind: 'trace', format: 'Heph', path },
      { kind: 'metadata', name: 'epoch', value: '1610113734118010000' },
      { kind: 'event', substream: '1152921504606846976', start: 100, description: 'GET /' },
    ]);
  });

  it('knows a Heph file by its first packet, whatever its name', () => {
    const path = writeTrace(directory, 'trace.bin', event);
    expect(tracewright('dump', path)).toMatchObject({ status: 0 });
    expect(tracewright('dump', writeTrace(directory, 'epoch.bin', epoch))).toMatchObject({
      status: 0,
    });
  });

  it('prints all traces of a directory that the register hook made', () => {
    const path = join(directory, 'registered');
    writeOvniTrace(join(path, 'ovni'), 1_000_000_000n);
    writeTrace(path, 'heph/b.heph', epoch, event);
    writeTrace(path, 'heph/a.heph', epoch, event);
    writeTrace(path, 'heph/notes.txt', Buffer.from('not a trace'));
    const { status, stdout } = tracewright('dump', path);
    expect(status).toBe(0);
    expect(stdout.split('\n').filter((line) => line.startsWith('#'))).toEqual([
      `# ovni trace ${join(path, 'ovni')}`,
      `# Heph trace ${join(path, 'heph/a.heph')}`,
      `# Heph trace ${join(path, 'heph/b.heph')}`,
    ]);
    expect(stdout).toMatch(/^1000005000 +OB\. /m);
    const records = tracewright('dump', '--json', path).stdout.trim().split('\n');
    expect(records.map((line) => (JSON.parse(line) as { kind: string }).kind)).toEqual([
      'trace',
      'event',
      'event',
      'event',
      ...['trace', 'metadata', 'event'],
      'trace',
      'metadata',
      'event',
    ]);
  });

  it('takes any part of an ovni trace', () => {
    const path = join(directory, 'ovni-parts');
    writeOvniTrace(path, 7n);
    for (const part of [
      '.',
      'loom.node0.1000',
      'loom.node0.1000/proc.4242',
      'loom.node0.1000/proc.4242/thread.4242',
    ]) {
      const { status, stdout } = tracewright('dump', join(path, part));
      expect([part, status, stdout.split('\n').length]).toEqual([part, 0, 5]);
    }
  });

  it('prints what stands in front of a fault, then the fault, then the next trace', () => {
    const path = join(directory, 'faulty');
    const fault = writeTrace(path, 'a.heph', epoch, event, event.subarray(0, 46));
    const next = writeTrace(path, 'b.heph', epoch);
    const { status, stdout, stderr } = tracewright('dump', path);
    expect([status, stdout.split('\n').length]).toEqual([1, 6]);
    expect(stdout).toContain(`# Heph trace ${next}\nmetadata`);
    expect(stderr).toContain(`tracewright dump: ${fault}, byte 70: `);
  });

  it('ends quietly when nobody reads any more', async () => {
    const path = writeTrace(directory, 'long.heph', ...Array.from({ length: 50000 }, () => event));
    const child = spawn(process.execPath, [main, 'dump', path], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const [status, signal] = (await once(child, 'close')) as [number | null, string | null];
    expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: '' });
  });
});
