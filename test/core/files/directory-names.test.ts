import { mkdirSync, renameSync, rmSync, rmdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { namesEnding } from '../../../src/core/files/directory-names.js';
import { temporaryDirectory } from '../../heph/temporary-file.js';

/** Longer than a directory is listed anew after a change. */
const LONG_MS = 2100;

test('names are those of now, also of a directory that has not changed for long', async () => {
  const directory = join(temporaryDirectory(), 'rings');
  mkdirSync(directory);
  const rings = (): string[] => [...namesEnding('.ring', directory)].sort();
  const write = (name: string): void => {
    writeFileSync(join(directory, name), '');
  };
  write('one.ring');
  write('one.heph');
  expect(rings()).toEqual(['one.ring']);
  write('two.ring');
  expect(rings()).toEqual(['one.ring', 'two.ring']);
  await sleep(LONG_MS);
  expect(rings()).toEqual(['one.ring', 'two.ring']);
  expect(namesEnding('.ring', directory)).toBe(namesEnding('.ring', directory));
  // A new file is found even if the times of its directory are set back.
  write('three.ring');
  utimesSync(directory, 1, 1);
  expect(rings()).toEqual(['one.ring', 'three.ring', 'two.ring']);
  await sleep(LONG_MS);
  rings();
  rmSync(join(directory, 'one.ring'));
  expect(rings()).toEqual(['three.ring', 'two.ring']);
  renameSync(directory, `${directory}.old`);
  expect(() => rings()).toThrow('ENOENT');
  mkdirSync(directory);
  expect(rings()).toEqual([]);
  rmdirSync(directory);
});
