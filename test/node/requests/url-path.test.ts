import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bounded, pathOf } from '../../../src/node/requests/url-path.js';

describe('the path of a URL', () => {
  it.each([
    ['/', '/'],
    ['/a/b', '/a/b'],
    ['/a?b=/c', '/a'],
    ['/a#b?c', '/a'],
    ['/?token=secret', '/'],
    ['/a?u=http://x/y', '/a'],
    ['http://user:password@host/a?b', '/a'],
    ['http://host', '/'],
    ['http://host?b=/c', '/'],
    ['HTTPS://host:1/a', '/a'],
    ['host:443', 'host:443'],
    ['*', '*'],
    ['*?u=http://x/y', '*'],
    ['?a', '/'],
    ['', ''],
  ])('of %j is %j', (url, path) => {
    expect(pathOf(url)).toBe(path);
  });

  it('is cut after 256 characters', () => {
    const longest = `/${'a'.repeat(255)}`;
    expect(pathOf(longest)).toBe(longest);
    expect(pathOf(`${longest}?secret`)).toBe(longest);
    expect(pathOf(`${longest}b?secret`)).toBe(`/${'a'.repeat(254)}…`);
    expect(bounded(`${longest}b`)).toHaveLength(256);
  });

  it('never holds what follows it', () => {
    const segment = fc.stringMatching(/^[a-z%.]{0,40}$/);
    fc.assert(
      fc.property(
        fc.constantFrom('', 'http://host', 'https://user:password@host:8080'),
        fc.array(segment, { maxLength: 10 }),
        fc.constantFrom('', '?', '#'),
        (origin, segments, mark) => {
          const path = `/${segments.join('/')}`;
          const url = `${origin}${path}${mark === '' ? '' : `${mark}SECRET=/SECRET`}`;
          expect(pathOf(url)).toBe(bounded(path));
        },
      ),
    );
  });
});
