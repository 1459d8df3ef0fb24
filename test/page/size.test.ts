import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { main } from '../cli/run-command.js';

const MOST = 150_000;

it('the page has at most 150 KB, gzipped', () => {
  const directory = join(dirname(main), '..', 'page');
  const names = readdirSync(directory);
  expect(names).toEqual(expect.arrayContaining(['index.html', 'page.js', 'style.css']));
  const sizes = names.map((name) => gzipSync(readFileSync(join(directory, name))).length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(MOST);
});
