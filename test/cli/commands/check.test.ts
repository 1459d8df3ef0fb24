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
const event = encodeEvent(someEvent());
const backwards = encodeEvent(someEvent({ counter: 1, start: 9n, end: 8n }));

describe('tracewright check', { timeout: 60_000 }, () => {
  it('accepts a right trace', () => {
    const path = writeTrace(directory, 'right.heph', epoch, event);
    expect(tracewright('check', path)).toEqual({
      status: 0,
      stdout: `${path}: acceptable (Heph)\n0 errors, 0 warnings\n`,
      stderr: '',
    });
    expect(tracewright('check', '--json', path)).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('accepts a trace with warnings and prints them', () => {
    const path = writeTrace(directory, 'warned.heph', event);
    const { status, stdout } = tracewright('check', path);
    expect(status).toBe(0);
    expect(stdout).toContain(`warning no-epoch: ${path}: `);
    expect(stdout).toMatch(/0 errors, 1 warning\n$/);
  });

  it('says in one line of all files that only the converter of the format cannot read them', () => {
    const large = encodeEvent(someEvent({ description: 'x'.repeat(5000) }));
    const path = join(directory, 'large');
    for (const name of ['a.heph', 'b.heph']) writeTrace(path, name, epoch, large);
    const { status, stdout } = tracewright('check', path);
    expect(status).toBe(0);
    expect(stdout).toMatch(
      /\nnote: 2 Heph files are valid, but .*`tracewright convert --to perfetto`/,
    );
    expect(stdout).toMatch(/\n0 errors, 0 warnings\n$/);
    expect(stdout.split('\n')).toHaveLength(5);
    expect(tracewright('check', '--json', path).stdout).toContain('"rule":"converter-buffer"');
  });

  it('refuses a trace with an error and says where it is', () => {
    const path = writeTrace(directory, 'wrong.heph', epoch, event, backwards);
    const { status, stdout } = tracewright('check', path);
    expect(status).toBe(1);
    expect(stdout).toContain(`error end-before-start: ${path}, byte 70: `);
    expect(stdout).toContain(`${path}: not acceptable (Heph)\n1 error, 0 warnings\n`);
  });

  it('warns of the ring of a process that was killed, until it is recovered', async () => {
    const path = join(directory, 'killed.heph');
    const script = `
      import { openTrace } from 'tracewright/heph';
      const stream = openTrace(process.argv[1]).stream();
      stream.finishTrace(stream.startTrace(), 'before the kill');
      process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, path], {
      cwd: import.meta.dirname,
    });
    const [, signal] = (await once(child, 'exit')) as [unknown, string];
    expect(signal).toBe('SIGKILL');
    const warned = tracewright('check', path);
    expect(warned.status).toBe(0);
    expect(warned.stdout).toContain('warning ring-left: ');
    expect(warned.stdout).toMatch(
      /\n0 errors, \d warnings?; `tracewright recover \S+` completes 1 trace of a killed process\n$/,
    );
    expect(tracewright('recover', path).status).toBe(0);
    expect(tracewright('check', path).stdout).toBe(
      `${path}: acceptable (Heph)\n0 errors, 0 warnings\n`,
    );
  });

  it('prints findings as JSON', () => {
    const path = writeTrace(directory, 'wrong.heph', epoch, event, backwards);
    const { status, stdout } = tracewright('check', '--json', path);
    expect(status).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      severity: 'error',
      rule: 'end-before-start',
      path,
      offset: 70,
    });
  });

  it('finds every trace below a directory, once', () => {
    const path = join(directory, 'runs');
    writeOvniTrace(join(path, 'one/ovni'), 1_000_000_000n);
    const traces = ['here.heph', 'one/heph/a.heph', 'two/deep/er/b.heph'].map((name) =>
      writeTrace(path, name, epoch, event),
    );
    const { stdout } = tracewright('check', path);
    const judged = stdout.split('\n').filter((line) => line.includes(': acceptable'));
    expect(judged.map((line) => line.split(': ')[0]!).sort()).toEqual(
      [...traces, join(path, 'one/ovni')].sort(),
    );
  });

  it('judges each trace of a directory, and all together', () => {
    const path = join(directory, 'registered');
    writeOvniTrace(join(path, 'ovni'), 1_000_000_000n);
    writeTrace(path, 'heph/a.heph', epoch, event, backwards);
    writeTrace(path, 'heph/b.heph', epoch, event);
    const { status, stdout } = tracewright('check', path);
    expect(status).toBe(1);
    expect(stdout).toContain(`${join(path, 'ovni')}: acceptable (ovni)\n`);
    expect(stdout).toContain(`${join(path, 'heph/a.heph')}: not acceptable (Heph)\n`);
    expect(stdout).toContain(`${join(path, 'heph/b.heph')}: acceptable (Heph)\n`);
  });

  it('takes an empty Heph file for a trace without events, by its extension', () => {
    expect(tracewright('check', writeTrace(directory, 'empty.heph'))).toMatchObject({ status: 0 });
  });

  it('tells the verdict by its exit code also when nobody reads it', async () => {
    const path = writeTrace(directory, 'wrong.heph', epoch, event, backwards);
    const child = spawn(process.execPath, [main, 'check', path], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.destroy();
    const [status] = (await once(child, 'close')) as [number | null];
    expect(status).toBe(1);
  });
});
