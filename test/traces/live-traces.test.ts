import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tracewright } from '../cli/run-command.js';
import { fixturePath } from '../fixtures/run-fixture.js';
import { temporaryDirectory } from '../heph/temporary-file.js';

const places = ['next to the trace', 'elsewhere'];
const traces = ['ovni', 'live.heph', 'dumpi', 'live.kernel.txt', 'live.references'];

describe.each(places)(
  'a trace that a live process writes, its rings %s',
  { timeout: 60_000 },
  (place) => {
    const directory = temporaryDirectory();
    let service: ChildProcessByStdio<Writable, Readable, null>;

    beforeAll(async () => {
      mkdirSync(join(directory, 'dumpi'));
      const rings = join(directory, 'rings');
      mkdirSync(rings);
      const env =
        place === 'elsewhere' ? { ...process.env, TRACEWRIGHT_RING_DIR: rings } : process.env;
      service = spawn(
        process.execPath,
        [fixturePath('traces/live.mjs'), JSON.stringify({ directory })],
        {
          stdio: ['pipe', 'pipe', 'inherit'],
          env,
        },
      );
      await once(service.stdout, 'data');
    });

    afterAll(async () => {
      service.stdin.end();
      if (service.exitCode === null) await once(service, 'exit');
    });

    it.each(traces)('is checked as far as it goes: %s', (name) => {
      const { status, stdout } = tracewright('check', join(directory, name));
      expect(stdout).toContain(`process ${service.pid!} is writing this trace`);
      expect(stdout).toContain('acceptable so far, still being written');
      // dumpi2dumpi takes no functions.
      const warnings = name === 'dumpi' ? '2 warnings' : '1 warning';
      expect(stdout).toContain(`\n0 errors, ${warnings}\n`);
      expect(status).toBe(0);
    });

    it.each([
      ['live.heph', 30],
      ['live.kernel.txt', 0],
      ['live.references', 18],
    ])('is not acceptable with a fault in what is complete: %s', (name, offset) => {
      const path = join(directory, name);
      const file = openSync(path, 'r+');
      writeSync(file, Buffer.alloc(4), 0, 4, offset);
      closeSync(file);
      const { status, stdout } = tracewright('check', path);
      expect([status, stdout]).toEqual([1, expect.stringContaining(`${path}: not acceptable`)]);
    });

    it.each(['live.kernel.txt', 'live.references'])('is dumped with a warning: %s', (name) => {
      const { stderr } = tracewright('dump', join(directory, name));
      expect(stderr).toContain(`process ${service.pid!} is writing ${join(directory, name)}`);
    });

    it('is dumped as far as it goes: dumpi', () => {
      const names = readdirSync(join(directory, 'dumpi'));
      const path = join(
        directory,
        'dumpi',
        names.find((name) => name.endsWith('.bin'))!,
      );
      const { status, stdout, stderr } = tracewright('dump', path);
      expect(stderr).toContain(`process ${service.pid!} is writing ${path}`);
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(stdout.match(/^MPI_Barrier\(comm=COMM_WORLD\)/gm)!.length).toBeGreaterThan(400);
      expect(status).toBe(0);
      // Rank 1 of the run is still missing.
      const run = join(
        directory,
        'dumpi',
        names.find((name) => name.endsWith('.meta'))!,
      );
      const whole = tracewright('dump', run);
      expect(whole.stdout).toContain('rank 0 MPI_Barrier(comm=COMM_WORLD)');
      expect(whole.stderr).toContain('the file of rank 1 is missing');
    });
  },
);
