import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { main, tracewright } from '../cli/run-command.js';
import { runFixture } from '../fixtures/run-fixture.js';
import { fileIn, temporaryDirectory } from '../laplace/temporary-directory.js';

const directory = temporaryDirectory();
const text = 'r 10 4 1 1000\nw 30 8 1 2000\n';
const kernelText = 's 10 7\n( 20 7 1a 8 1 a name\n) 40 7 1a 8 1\nc\n';

function files(): { binary: string; text: string; kernel: string } {
  const paths = { binary: fileIn(directory), text: fileIn(directory), kernel: fileIn(directory) };
  writeFileSync(paths.text, text);
  writeFileSync(paths.kernel, kernelText);
  expect(tracewright('convert', '--to', 'laplace-binary', paths.text, paths.binary).status).toBe(0);
  return paths;
}

describe('the command', () => {
  it.each(['little', 'big'])(
    'converts both ways, %s-endian, files and standard streams',
    (endian) => {
      const paths = files();
      const there = spawnSync(
        process.execPath,
        [main, 'convert', '--to', 'laplace-binary', '-', '-', '--endian', endian],
        { input: text },
      );
      expect(there.status).toBe(0);
      expect(there.stdout.length).toBe(36);
      expect(there.stdout.equals(readFileSync(paths.binary))).toBe(endian === 'little');
      const back = spawnSync(
        process.execPath,
        [main, 'convert', '--to', 'laplace-text', '-', '--endian', endian],
        { input: there.stdout },
      );
      expect(back.stdout.toString()).toBe(text);
      const taken = tracewright('convert', '--to', 'laplace-text', paths.binary, paths.text);
      expect(taken).toMatchObject({ status: 2 });
      expect(
        tracewright('convert', '--to', 'laplace-text', paths.binary, paths.text, '--force').status,
      ).toBe(0);
      expect(readFileSync(paths.text, 'latin1')).toBe(text);
      expect(
        tracewright('convert', '--to', 'laplace-text', paths.text, paths.text, '--force').status,
      ).toBe(2);
    },
  );

  it('prints references and kernel events by timestamp', () => {
    const { binary, kernel } = files();
    const { status, stdout } = tracewright(
      ...['dump', binary, '--format', 'laplace-binary', '--kernel', kernel],
    );
    expect(status).toBe(0);
    expect(stdout.split('\n').map((line) => line.trim().split(' ').slice(0, 2).join(' '))).toEqual([
      '# laplace-binary',
      '10 schedule',
      '10 load',
      '20 openFile',
      '30 store',
      '40 closeFile',
      'end',
      '',
    ]);
    const json = tracewright('dump', binary, '--format', 'laplace-binary', '--json').stdout;
    expect(JSON.parse(json.split('\n')[1]!)).toEqual({
      kind: 'reference',
      type: 'r',
      timestamp: 16,
      length: 4,
      space: 1,
      address: 4096,
      offset: 0,
    });
  });

  it('tells the text forms by their first line, and binary by nothing', () => {
    const paths = files();
    expect(tracewright('dump', paths.text).stdout).toContain('load address 1000 length 4 space 1');
    expect(tracewright('dump', paths.kernel).stdout).toContain('fileName "a name"');
    expect(tracewright('check', paths.kernel).status).toBe(0);
    expect(tracewright('check', paths.binary)).toMatchObject({ status: 2 });
    expect(tracewright('check', paths.binary, '--format', 'laplace-binary').status).toBe(0);
    expect(tracewright('check', paths.binary, '--format', 'laplace')).toMatchObject({ status: 2 });
    expect(tracewright('check', paths.text, '--endian', 'up')).toMatchObject({ status: 2 });
    expect(tracewright('convert', '--to', 'perfetto', paths.kernel).stdout).toContain('scheduled');
  });

  it.each(['binary', 'text'])(
    'knows by its ring what a killed process has left, %s',
    async (form) => {
      const [references, kernel] = [fileIn(directory), fileIn(directory)];
      await runFixture('laplace/killed.mjs', { input: { references, kernel, form, count: 5000 } });
      for (const [path, format] of [
        [references, `laplace-${form}`],
        [kernel, 'laplace-kernel'],
      ] as const) {
        const before = tracewright('check', path);
        expect(before.stdout).toContain('ring-left');
        expect(before.stdout).toContain(`(${format})`);
        const dumped = tracewright('dump', path);
        expect(dumped.stdout).toContain(`# ${format} trace`);
        expect(dumped.stderr).toContain('tracewright recover');
        expect(tracewright('recover', path)).toMatchObject({ status: 0 });
      }
      expect(readFileSync(kernel, 'latin1').endsWith('\nc\n')).toBe(true);
      const told = ['--format', `laplace-${form}`];
      expect(tracewright('check', references, ...told)).toMatchObject({ status: 0 });
      const lines = tracewright('dump', references, ...told);
      expect(lines.stdout.trim().split('\n')).toHaveLength(5001);
      expect(lines.stderr).toBe('');
    },
  );

  it('refuses a kernel trace that is not there, and a directory as standard input', () => {
    const { text: path } = files();
    const missing = fileIn(directory);
    expect(tracewright('dump', path, '--kernel', missing)).toMatchObject({
      status: 2,
      stdout: '',
    });
    const input = openSync(tmpdir(), 'r');
    const { status, stderr } = spawnSync(
      process.execPath,
      [main, 'convert', '--to', 'laplace-text', '-'],
      { stdio: [input, 'pipe', 'pipe'], encoding: 'utf8' },
    );
    closeSync(input);
    expect({ status, stderr }).toMatchObject({ status: 2 });
    expect(stderr).toContain('standard input is a directory');
  });

  it('recovers', () => {
    const { kernel } = files();
    writeFileSync(kernel, 's 10 7\nT 2');
    expect(tracewright('check', kernel).status).toBe(1);
    expect(tracewright('recover', kernel).status).toBe(0);
    expect(readFileSync(kernel, 'latin1')).toBe('s 10 7\nc\n');
    expect(tracewright('check', kernel).status).toBe(0);
  });
});
