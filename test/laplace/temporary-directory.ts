import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';

/** A directory for the files of one test file; gone after it. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-laplace-'));
  afterAll(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

let named = 0;

/** A new name in a directory. */
export function fileIn(directory: string, extension = ''): string {
  named += 1;
  return join(directory, `trace-${named}${extension}`);
}
