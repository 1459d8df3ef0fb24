import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { pathOf, routeOf } from '../../../src/node/requests/path-and-route.js';

function routed(url: string, path: unknown, baseUrl?: unknown, isEntered = false): string {
  const request = { route: { path }, baseUrl } as unknown as IncomingMessage;
  return routeOf(request, pathOf(url), '', isEntered);
}

describe('the route of express', () => {
  it.each([
    ['/users/7', '/users/:id', '', '/users/:id'],
    ['/users/7', '/users/:id', undefined, '/users/:id'],
    ['/api/users/7?x=/y', '/users/:id', '/api', '/api/users/:id'],
    // What follows is restored after an error.
    ['/api/users/7?x=/y', '/users/:id', '', '/api/users/:id'],
    ['/api/v1/users', '/', '', '/api/v1/users/'],
    ['/', '/', '', '/'],
    ['/a/b/c', '/c', '', '/a/b/c'],
    // Where the pattern does not say how many segments it matches, nothing is guessed.
    ['/a/b/c', '/{*rest}', '', '/{*rest}'],
    ['/a/b/c', '/b?/c', '', '/b?/c'],
    ['/rewritten/by/a/program', '/users/:id', '', '/users/:id'],
    ['/a', /regular/, '', ''],
  ])('of %s, %s in %j is %s', (url, path, baseUrl, route) => {
    expect(routed(url, path, baseUrl)).toBe(route);
  });

  it.each([
    ['/api/users/7', '/users/:id', '/api', '/api/users/:id'],
    // The program has changed the path that is routed.
    ['/api/users/7', '/users/:id', '', '/users/:id'],
    ['/api/users/7', '/users/:id', undefined, '/users/:id'],
  ])('of %s, %s in %j is %s when its first function runs', (url, path, baseUrl, route) => {
    expect(routed(url, path, baseUrl, true)).toBe(route);
  });
});
