import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { absolutePath, pathIn } from '../../../src/core/files/path-in.js';

it.each(['/', '/a', '/a/b.c', 'a', '.'.repeat(3)])(
  'a name in %s is where join says',
  (directory) => {
    expect(pathIn(directory, 'name')).toBe(join(directory, 'name'));
  },
);

it.each([
  ...[
    '/',
    '//',
    '/a',
    '/a/',
    '/a//b',
    '/a/.',
    '/a/./b',
    '/a/..',
    '/a/../b',
    '/..',
    '/a/...',
    '/.a/b..',
    '/a/.b',
  ],
  ...['', '.', '..', 'a', './a', 'a/b', '../a'],
])('the absolute path of "%s" is what resolve says', (path) => {
  expect(absolutePath(path)).toBe(resolve(path));
});
