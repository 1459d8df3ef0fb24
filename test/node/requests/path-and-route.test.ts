import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../cpu-time.js';
import { known } from '../../../src/core/utf8.js';
import { bounded, hostOf, originOf, pathOf } from '../../../src/node/requests/path-and-route.js';

describe('the path of a URL', () => {
  it('has its bytes kept next to it, as they are written into a slot', () => {
    const character = fc.constantFrom('/', 'a', '7', '?', ';', '%', '@', '\\', 'é', '-', '.');
    const target = fc.string({ unit: character, maxLength: 300 }).map((rest) => `/${rest}`);
    let count = 0;
    fc.assert(
      fc.property(target, (given) => {
        const path = pathOf(given);
        if (known.text === '') return;
        expect(known.text).toBe(path);
        expect(Buffer.from(known.bytes.subarray(0, path.length)).toString('utf8')).toBe(path);
        count += 1;
      }),
    );
    expect(count).toBeGreaterThan(0);
  });

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
    ['//user:SECRET@host/abs', '/abs'],
    ['//SECRET@host', '/'],
    ['/\\user:SECRET@host\\abs', '\\abs'],
    ['\\\\user:SECRET@host/abs', '/abs'],
    ['///user:SECRET@host/abs?x', '/abs'],
    ['//api/users', '//api/users'],
    ['//api/users?token=SECRET', '//api/users'],
    ['http://user:SECRET@host/x?y', '/x'],
    ['http:\\\\user:SECRET@host\\x', '\\x'],
    ['http:/user:SECRET@host/x', '/x'],
    ['http:user:SECRET@host/x', 'host'],
    ['http://user:SECRET%40host/x', '/x'],
    ['user:SECRET@host:443', 'host:443'],
    ['user:SECRET%2540host:443', 'host:443'],
    ['host:443?SECRET', 'host:443'],
    ['/a;jsessionid=SECRET', '/a'],
    ['/a;jsessionid=SECRET/b;v=SECRET/c', '/a/b/c'],
    ['/a%3Bjsessionid=SECRET/b', '/a/b'],
    ['/a%253bjsessionid=SECRET%2FSECRET/b', '/a/b'],
    ['/;SECRET', '/'],
    [';SECRET', '/'],
    ['/a%3Ftoken=SECRET', '/a'],
    ['/a%253Ftoken=SECRET/b', '/a'],
    ['/a%u003Ftoken=SECRET', '/a'],
    ['/a%25u003ftoken=SECRET', '/a'],
    ['/a%uFF1FSECRET', '/a'],
    ['/a\\u003fSECRET', '/a'],
    ['/a%u0023SECRET', '/a'],
    ['/a%c0%bfSECRET', '/a'],
    ['/a%25c0%25BFSECRET', '/a'],
    ['/a%e0%80%bfSECRET', '/a'],
    ['/a%EF%BC%9FSECRET', '/a'],
    ['/a%u003bSECRET/b', '/a/b'],
    ['/git/user%u003aSECRET%u0040host/x', '/git/…'],
    ['/a%23SECRET', '/a'],
    ['/a%252523SECRET', '/a'],
    ['/a;b#SECRET', '/a'],
    ['/a\\b;SECRET\\c', '/a\\b\\c'],
    ['/proxy/http://user:SECRET@host/x', '/proxy/http://…'],
    ['/proxy/https%3A//SECRET@host/x', '/proxy/https%3A//…'],
    ['/proxy/https%3A%2F%2Fuser%3ASECRET%40host/x', '/proxy/…'],
    ['/git/user:SECRET@host/x', '/git/…'],
    // What is none of these stays as it is.
    ['/@scope/package', '/@scope/package'],
    ['/users/me@example.com/a%20b', '/users/me@example.com/a%20b'],
    ['/a:b/c%2Fd', '/a:b/c%2Fd'],
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

  it('is found in linear time', () => {
    for (const part of [':', '@', '%25', ';', '/:', '%3a', '\\', '//a']) {
      const begun = cpuMs();
      for (const first of ['/', '//', 'http://', 'a']) pathOf(first + part.repeat(200_000));
      expect(cpuMs() - begun).toBeLessThan(5000);
    }
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

describe('an authority', () => {
  it.each([
    ['host', 'host'],
    ['host:80', 'host:80'],
    ['[::1]:80', '[::1]:80'],
    ['user:SECRET@host:80', 'host:80'],
    ['user:SECRET%40host', 'host'],
    ['host/SECRET?SECRET', 'host'],
  ])('%j has the host %j', (authority, host) => {
    expect(hostOf(authority)).toBe(host);
  });

  it.each([
    ['https://host:1', 'https://host:1'],
    ['http://user:SECRET@host:1/SECRET?SECRET', 'http://host:1'],
    ['http:\\\\user:SECRET@host', 'http://host'],
    ['http:user:SECRET@host', 'host'],
    ['user:SECRET@host', 'host'],
    ['host', 'host'],
  ])('%j has the origin %j', (text, origin) => {
    expect(originOf(text)).toBe(origin);
  });
});
