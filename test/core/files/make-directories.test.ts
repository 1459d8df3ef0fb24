import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { makeDirectories } from '../../../src/core/files/make-directories.js';
import { resultOfFixture, runFixture } from '../../fixtures/run-fixture.js';

const folder = mkdtempSync(join(tmpdir(), 'tracewright-directories-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('directories are made', () => {
  it('with those above them, also where they are there or links to some', () => {
    const path = join(folder, 'a/b/c');
    makeDirectories(path);
    makeDirectories(path);
    symlinkSync(path, join(folder, 'link'));
    makeDirectories(join(folder, 'link'));
    makeDirectories(join(folder, 'link/d'));
    expect(statSync(join(path, 'd')).isDirectory()).toBe(true);
  });

  it('nowhere below a file', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(() => {
      makeDirectories(file);
    }).toThrow('EEXIST');
    expect(() => {
      makeDirectories(join(file, 'a/b'));
    }).toThrow('ENOTDIR');
  });

  it('at the same moment as another thread', async () => {
    const input = { directory: join(folder, 'races'), rounds: 400 };
    expect(await resultOfFixture('core/racing-directories.mjs', { input })).toEqual([]);
  });

  it('if another process makes and deletes one meanwhile', async ({ skip }) => {
    const shim = join(folder, 'vanishing.so');
    const source = new URL('../../../native/test/preload/vanishing_directory.cc', import.meta.url);
    const compile = ['-shared', '-fPIC', '-o', shim, fileURLToPath(source), '-ldl'];
    const compiled = process.platform === 'linux' && spawnSync('c++', compile).status === 0;
    skip(!compiled, 'this needs Linux and a compiler');
    for (const name of ['vanishing', 'vanishing-parent/a']) {
      const directory = join(folder, name);
      const vanishing = name.includes('/') ? join(directory, '..') : directory;
      const outcome = await resultOfFixture('core/making-directories.mjs', {
        input: { directory },
        env: { LD_PRELOAD: shim, TRACEWRIGHT_TEST_VANISHING: vanishing },
      });
      expect(outcome).toEqual({ isDirectory: true });
    }
  });

  it.runIf(existsSync('/proc/self'))('nowhere below what says ENOENT for ever', async () => {
    expect(() => {
      makeDirectories('/proc/tracewright/a');
    }).toThrow('ENOENT');
    const { code, stderr } = await runFixture('node/quiet.mjs', {
      env: { TRACEWRIGHT_DIR: '/proc/tracewright' },
      execArgv: ['--import', 'tracewright/register'],
    });
    expect(code).toBe(0);
    expect(stderr).toContain('ENOENT');
  });
});
