import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A directory that lasts as long as the run. */
    temporaryRoot: string;
  }
}

export default function setup(project: TestProject): () => void {
  const root = mkdtempSync(join(tmpdir(), 'tracewright-run-'));
  project.provide('temporaryRoot', root);
  return () => {
    rmSync(root, { recursive: true, force: true });
  };
}
