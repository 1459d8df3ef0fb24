import { describe, expect, it } from 'vitest';
import { RouterMatch, setInside } from '../../../src/libraries/engine/router-matches.js';
import { routeOf } from '../../../src/node/requests/path-and-route.js';
import { ROUTE } from '../../../src/spans/route.js';

describe('the route of a router into which nothing is put', () => {
  it.each([
    ['/users/7', '/users/:id', '', '/users/:id'],
    ['/USERS/7', '/users/:id', '', '/users/:id'],
    ['/users/7', '/users/:id', undefined, '/users/:id'],
    ['/', '/', '', '/'],
    ['/a', /regular/, '', ''],
    // A prefix is known as it was requested alone.
    ['/api/users/7', '/users/:id', '/api', ''],
    // It is restored after an error.
    ['/api/users/7', '/users/:id', '', ''],
    ['/api/v1/users', '/', '', ''],
    ['/rewritten/by/a/program', '/users/:id', '', ''],
    // The pattern does not say how many segments it matches.
    ['/a/b/c', '/{*rest}', '', '/{*rest}'],
    ['/a/b/c', '/b?/c', '', '/b?/c'],
  ])('of %s, %s in %j is %j', (path, pattern, baseUrl, route) => {
    expect(routeOf({ route: { path: pattern }, baseUrl }, undefined, '', path)).toBe(route);
  });
});

describe('the route of a request', () => {
  const mount = new RouterMatch('/api', undefined, true);
  const users = new RouterMatch('/api/users/:id', mount, false);
  const last = new RouterMatch('/api/last', mount, false);

  it('is what the router has matched for good', () => {
    const request = {};
    expect(routeOf(request, users, '', '/api/users/7')).toBe('/api/users/:id');
    setInside(request, mount);
    expect(routeOf(request, users, '', '/api/users/7')).toBe('/api/users/:id');
  });

  it('is what it is in, unless that has passed on', () => {
    const request = {};
    setInside(request, last);
    expect(routeOf(request, undefined, '', '/api/users/7')).toBe('/api/last');
    expect(routeOf(request, users, '', '/api/users/7')).toBe('/api/last');
    setInside(request, null);
    expect(routeOf(request, undefined, '', '/api/users/7')).toBe('');
  });

  it('is first of all what the program says', () => {
    const request = { [ROUTE]: '/given' };
    setInside(request, mount);
    expect(routeOf(request, users, '/reported', '/api/users/7')).toBe('/given');
  });
});
