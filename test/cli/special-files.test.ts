import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { TraceFormatError } from '../../src/core/errors.js';
import { readCalls, recoverTrace, writeMetafile } from '../../src/dumpi/index.js';
import { readPackets } from '../../src/heph/index.js';
import { readReferences } from '../../src/laplace/index.js';
import { readStream, readTraceDirectory } from '../../src/ovni/index.js';
import { runFixture } from '../fixtures/run-fixture.js';
import { main } from './run-command.js';
import { writeOvniTrace } from './small-ovni-trace.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-special-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const newFolder = (): string => mkdtempSync(join(folder, 'at-'));
const pipeAt = (path: string): void => {
  execFileSync('mkfifo', [path]);
};

/** Runs the command; one that waits or reads for ever is ended, and has no status. */
function runToEnd(...args: string[]) {
  return spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
}

function ovniTrace(): string {
  const directory = newFolder();
  writeOvniTrace(directory, 1_000_000n);
  return directory;
}

describe.runIf(process.platform === 'linux')(
  'what is not a regular file',
  { timeout: 240_000 },
  () => {
    it('a pipe that nobody writes to: every reader refuses it at once', () => {
      const pipe = join(newFolder(), 'pipe.bin');
      pipeAt(pipe);
      const refusal = (read: () => unknown): void => {
        expect(read).toThrow(TraceFormatError);
        expect(read).toThrow(/not a regular file/);
      };
      refusal(() => [...readCalls(pipe)]);
      refusal(() => [...readPackets(pipe)]);
      refusal(() => [...readReferences(pipe)]);
      refusal(() => [...readStream(pipe, { version: 1 })]);
      refusal(() => [...readStream('/dev/zero', { version: 3 })]);
      refusal(() => [...readStream(folder, { version: 3 })]);
    });

    it('a pipe in the place of a rank: said by check, dump and convert', () => {
      const directory = newFolder();
      const metafile = join(directory, 'run.meta');
      writeMetafile(metafile, {
        hostname: 'node0',
        numprocs: 1,
        username: 'user',
        startTime: 1_600_000_000,
        fileprefix: 'run',
        version: [1, 6, 0],
      });
      pipeAt(join(directory, 'run-0000.bin'));
      for (const args of [
        ['check', metafile],
        ['dump', metafile],
        ['dump', metafile, '--format', 'dumpi2ascii'],
        ['convert', '--to', 'perfetto', metafile],
      ]) {
        const { status, stdout, stderr } = runToEnd(...args);
        expect(status).toBe(1);
        expect(stdout + stderr).toContain('this is not a regular file');
      }
    });

    it('a table of clock offsets of a terabyte, or that leads to a device: a finding', () => {
      const directory = ovniTrace();
      const offsets = join(directory, 'clock-offsets.txt');
      writeFileSync(offsets, '');
      truncateSync(offsets, 2 ** 40);
      const { status, stdout } = runToEnd('check', directory);
      expect(status).toBe(0);
      expect(stdout).toContain(
        `warning clock-offsets: ${offsets}, byte 0: this file has 1099511627776`,
      );
      rmSync(offsets);
      symlinkSync('/dev/zero', offsets);
      expect(readTraceDirectory(directory).clockOffsets.size).toBe(0);
    });

    it.each(['pipe', 'device', 'brackets'])(
      'what was kept beside the ring of a rank has become a %s: recovery goes on without',
      async (kind) => {
        const directory = newFolder();
        const input = { directory, count: 10, end: 'kill' };
        const { stdout } = await runFixture('dumpi-killed.mjs', { input });
        const { path } = JSON.parse(stdout) as { path: string };
        const name = path.slice(directory.length + 1);
        const kept = join(directory, `.${name}.json`);
        expect(existsSync(kept)).toBe(true);
        rmSync(kept);
        if (kind === 'pipe') pipeAt(kept);
        else if (kind === 'device') symlinkSync('/dev/zero', kept);
        else writeFileSync(kept, Buffer.alloc(120e6, '[]'));
        const { faults } = recoverTrace(path);
        expect(faults.map(({ message }) => message)).toEqual([
          expect.stringContaining(
            kind === 'brackets' ? 'at most 67108864 are read' : 'this is not a regular file',
          ),
        ]);
        const { status, stdout: told } = runToEnd('recover', directory);
        expect(status).toBe(1);
        expect(told).toContain(kept);
      },
    );

    it('a pipe that the user names is read to its end', () => {
      const directory = newFolder();
      const pipe = join(directory, 'references');
      pipeAt(pipe);
      writeFileSync(join(directory, 'text'), 'R 1 4 2 3\nW 2 4 2 4\n');
      const command =
        'cat text > references & exec "$0" "$1" convert --to laplace-binary references out';
      const { stderr } = spawnSync('sh', ['-c', command, process.execPath, main], {
        cwd: directory,
        timeout: 120_000,
        encoding: 'utf8',
      });
      expect(stderr).toBe('out: 2 references\n');
    });
  },
);
