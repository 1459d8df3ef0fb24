import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, inject } from 'vitest';

/** A directory that lasts as long as the test file that asked for it. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-test-'));
  afterAll(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

/** A directory that lasts as long as the run: for a module that test files of one process share. */
export function lastingDirectory(): string {
  return mkdtempSync(join(inject('temporaryRoot'), 'shared-'));
}

/** Writes `bytes` to a file below `directory` and returns its path. */
export function writeTrace(directory: string, name: string, ...bytes: Uint8Array[]): string {
  const path = join(directory, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, Buffer.concat(bytes));
  return path;
}
