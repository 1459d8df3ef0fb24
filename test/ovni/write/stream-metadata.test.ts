import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import * as ovni from '../../../src/ovni/index.js';
import { thread } from '../../../src/ovni/write/thread.js';

const directory = mkdtempSync(join(tmpdir(), 'tracewright-metadata-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

it('what is due is written at once, and nothing when nothing is', () => {
  ovni.procInit(1, 'node', process.pid, { traceDir: directory, version: 3 });
  ovni.threadInit();
  const path = join(
    directory,
    'loom.node',
    `proc.${process.pid}`,
    `thread.${thread.tid}`,
    'stream.json',
  );
  const { ino } = statSync(path);
  thread.metadata.writeDue();
  expect(statSync(path).ino).toBe(ino);
  ovni.attrSet('answer', 42);
  expect(readFileSync(path, 'utf8')).not.toContain('answer');
  thread.metadata.writeDue();
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ answer: 42 });
  const { ino: second } = statSync(path);
  thread.metadata.writeDue();
  expect(statSync(path).ino).toBe(second);
  ovni.threadFree();
  ovni.procFini();
});
