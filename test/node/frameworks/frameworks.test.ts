import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, requestsOf } from '../written-traces.js';

/** Set by `npm run test:frameworks`, which installs them. */
const place = process.env['TRACEWRIGHT_TEST_FRAMEWORKS'];

describe.skipIf(place === undefined)('requests of', () => {
  it.each([
    ['express4', 'on'],
    ['express5', 'on'],
    ['fastify4', 'on'],
    ['fastify5', 'on'],
    ['koa', 'on'],
    ['hono', 'on'],
    ['express5', 'off'],
    ['fastify5', 'off'],
    ['koa', 'off'],
    ['hono', 'off'],
  ])('%s are traced with their routes, context %s', async (name, context) => {
    const service = new TracedProcess('framework-service.mjs', {
      args: [place!, name],
      // Whose package.json says which packages have another name.
      cwd: place!,
      env: { TRACEWRIGHT_CONTEXT: context },
    });
    for (const path of ['/orgs/users/fine', '/orgs/users/error', '/checked']) {
      await service.serve(path);
    }
    const aborted = connect(await service.port(), '127.0.0.1');
    aborted.write('GET /orgs/users/hold HTTP/1.1\r\nHost: a\r\n\r\n');
    await service.printed(/^held$/m);
    aborted.destroy();
    await service.printed(/^done .*hold$/m);
    service.kill('SIGTERM');
    expect((await service.ended()).stderr).toBe('');
    expect(faultsOf(service.directory)).toEqual([]);
    const users = { route: '/orgs/users/:what' };
    // Without its channels, the middleware of the program knows Koa's route when the handler is done.
    const held = name === 'koa' && context === 'off' ? {} : users;
    const checked = { route: '/checked' };
    const method = 'GET';
    expect(requestsOf(service.directory)).toEqual([
      { ...users, method, path: '/orgs/users/fine', status: 200n },
      { ...users, method, path: '/orgs/users/error', status: 500n },
      { ...checked, method, path: '/checked', status: 400n },
      { ...held, method, path: '/orgs/users/hold', failure: 'aborted' },
    ]);
  });
});
