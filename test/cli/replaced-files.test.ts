import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeEpoch } from '../heph/byte-by-byte-encoder.js';
import { temporaryDirectory, writeTrace } from '../heph/temporary-file.js';
import { encodeSpan } from '../export/span-file.js';
import { tracewright } from './run-command.js';
import { writeOvniTrace } from './small-ovni-trace.js';

const directory = temporaryDirectory();
const trace = writeTrace(
  directory,
  'trace.heph',
  encodeEpoch(1_700_000_000_000_000_000n),
  encodeSpan({ id: 1n, start: 1n, end: 2n }),
);
const references = join(directory, 'text.references.txt');
writeFileSync(references, 'R 1 4 2 3\n');
const PRECIOUS = 'what another program needs';

/** Every command that writes a file, with --force. */
const OUTPUTS: Record<string, (out: string) => string[]> = {
  'report --html': (out) => ['report', trace, '--cache', 'off', '--html', out, '--force'],
  'convert --to perfetto': (out) => ['convert', '--to', 'perfetto', trace, out, '--force'],
  'convert --to otlp': (out) => ['convert', '--to', 'otlp', trace, out, '--force'],
  'convert --to laplace-binary': (out) => [
    ...['convert', '--to', 'laplace-binary', references, out, '--force'],
  ],
};

describe.runIf(process.platform === 'linux').each(Object.entries(OUTPUTS))(
  '%s --force',
  (name, command) => {
    const place = join(directory, name.replaceAll(' ', '-'));
    mkdirSync(place);
    const at = (file: string): string => join(place, file);

    it('does not write through a symbolic link', () => {
      writeFileSync(at('precious'), PRECIOUS);
      for (const target of ['precious', 'nothing']) {
        symlinkSync(at(target), at(`to-${target}`));
        const { status, stderr } = tracewright(...command(at(`to-${target}`)));
        expect(status).toBe(2);
        expect(stderr).toContain('is a symbolic link, which is not replaced');
        expect(readlinkSync(at(`to-${target}`))).toBe(at(target));
      }
      expect(readFileSync(at('precious'), 'utf8')).toBe(PRECIOUS);
      expect(existsSync(at('nothing'))).toBe(false);
    });

    it('leaves the other names of a file as they are', () => {
      writeFileSync(at('original'), PRECIOUS);
      linkSync(at('original'), at('name'));
      expect(tracewright(...command(at('name'))).status).toBe(0);
      expect(readFileSync(at('original'), 'utf8')).toBe(PRECIOUS);
      expect(readFileSync(at('name'), 'utf8')).not.toContain(PRECIOUS);
      expect(lstatSync(at('name')).nlink).toBe(1);
    });

    it('replaces neither a pipe nor a directory', () => {
      execFileSync('mkfifo', [at('pipe')]);
      mkdirSync(at('folder'));
      for (const out of ['pipe', 'folder']) {
        const { status, stderr } = tracewright(...command(at(out)));
        expect(status).toBe(2);
        expect(stderr).toContain('is not a regular file, which is not replaced');
      }
    });
  },
);

it('convert --to ovni3 --force follows no link to a directory', () => {
  const from = join(directory, 'ovni');
  writeOvniTrace(from, 1_000_000n);
  const inner = join(directory, 'inner');
  mkdirSync(join(inner, 'loom.x'), { recursive: true });
  const out = join(directory, 'link');
  symlinkSync(inner, out);
  const { status, stderr } = tracewright('convert', '--to', 'ovni3', from, out, '--force');
  expect([status, stderr]).toEqual([2, expect.stringContaining('is not a directory')]);
  expect(existsSync(join(inner, 'loom.x'))).toBe(true);
  expect(readlinkSync(out)).toBe(inner);
});

it('report --html --force does not replace the trace that it reads', () => {
  const { status, stderr } = tracewright(
    'report',
    trace,
    '--html',
    trace,
    '--force',
    '--cache',
    'off',
  );
  expect([status, stderr]).toEqual([2, expect.stringContaining('is a part of the trace')]);
});
