import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TracedProcess } from '../traced-process.js';
import { faultsOf, requestsOf, spansOf, streamsOf } from '../written-traces.js';

async function end(service: TracedProcess): Promise<void> {
  service.kill('SIGTERM');
  await service.ended();
  expect(faultsOf(service.directory)).toEqual([]);
}

/** Sends raw bytes and gives what came back until the service closed the connection. */
async function raw(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.end(text);
  let answer = '';
  socket.setEncoding('utf8').on('data', (part: string) => (answer += part));
  await once(socket, 'close');
  return answer;
}

/** Both formats of the hook: the number of open requests is a mark of ovni. */
const BOTH = { TRACEWRIGHT_FORMATS: 'heph,ovni' };

function valuesInFlight(service: TracedProcess): unknown[] {
  return streamsOf(service.directory)
    .get('main')!
    .filter(({ mcv }) => mcv === 'OM=')
    .map((mark) => mark.arguments['value']);
}

describe('requests', () => {
  it('are recorded with method and status, and with the bytes that were written if wished', async () => {
    const service = new TracedProcess('service.mjs', {
      env: { TRACEWRIGHT_REQUEST_BYTES: '1', TRACEWRIGHT_CONTEXT: 'off' },
    });
    const port = await service.port();
    const answers = [
      await raw(port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
      await raw(port, 'HEAD /missing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
      await raw(port, 'GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
      await raw(
        port,
        'POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nsent',
      ),
    ];
    await end(service);
    const recorded = (method: string, path: string, status: bigint, answer: string) => ({
      'http.request.method': method,
      'url.path': path,
      'url.scheme': 'http',
      'server.address': 'a',
      'network.protocol.version': '1.1',
      'http.response.status_code': status,
      'http.response.size': BigInt(answer.length),
    });
    expect(spansOf(service.directory).map(({ attributes }) => attributes)).toEqual([
      recorded('GET', '/', 200n, answers[0]!),
      recorded('HEAD', '/missing', 404n, answers[1]!),
      recorded('GET', '/stream', 200n, answers[2]!),
      recorded('POST', '/echo', 200n, answers[3]!),
    ]);
  });

  it('do not record secrets, whether they come or go', async () => {
    const targets = [
      '//user:SECRET@host/abs',
      '/a;jsessionid=SECRET',
      '/a%3Ftoken=SECRET',
      '/a%253Ftoken=SECRET',
      '/a%3bv=SECRET/b',
      '/a%23SECRET',
      '/a#SECRET',
      'http://user:SECRET@host/x?y=SECRET',
      '/\\user:SECRET@host\\x',
      '/proxy/http://user:SECRET@host/x',
    ];
    const service = new TracedProcess('secret-requests.mjs', { args: [JSON.stringify(targets)] });
    expect((await service.ended()).stderr).toBe('');
    const spans = spansOf(service.directory);
    expect(spans.length).toBeGreaterThanOrEqual(3 * targets.length);
    expect(spans.filter((span) => /SECRET/.test(Object.values(span.attributes).join()))).toEqual(
      [],
    );
  });

  it('on one connection each have their own bytes, also when they are pipelined', async () => {
    const service = new TracedProcess('service.mjs', {
      env: { ...BOTH, TRACEWRIGHT_REQUEST_BYTES: '1' },
    });
    const answer = await raw(
      await service.port(),
      'GET /stream HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n' +
        'GET /missing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    await end(service);
    const spans = spansOf(service.directory);
    expect(spans.map(({ attributes }) => attributes['url.path'])).toEqual([
      '/stream',
      '/',
      '/missing',
    ]);
    const bytes = spans.reduce(
      (sum, { attributes }) => sum + (attributes['http.response.size'] as bigint),
      0n,
    );
    expect(bytes).toBe(BigInt(answer.length));
    expect(new Set(spans.map(({ substream }) => substream)).size).toBe(3);
    expect(valuesInFlight(service).at(-1)).toBe(1n);
  });

  it('do not ask Node for bytes by default', async () => {
    const service = new TracedProcess('service.mjs', { env: BOTH });
    await raw(await service.port(), 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await end(service);
    const [span] = spansOf(service.directory);
    expect(span!.attributes).toHaveProperty(['http.response.status_code'], 200n);
    expect(span!.attributes).not.toHaveProperty(['http.response.size']);
  });

  it('that overlap have substreams of their own, and are counted together', async () => {
    const service = new TracedProcess('service.mjs', { env: BOTH });
    const port = await service.port();
    const first = connect(port, '127.0.0.1');
    first.write('GET /hold HTTP/1.1\r\nHost: a\r\n\r\n');
    await service.printed(/^held$/m);
    await service.serve('/');
    first.destroy();
    await service.printed(/^done \/hold$/m);
    await end(service);
    const spans = spansOf(service.directory);
    expect(new Set(spans.map(({ substream }) => substream)).size).toBe(spans.length);
    const values = valuesInFlight(service);
    expect(values.slice(0, 3)).toEqual([2n, 3n, 2n]);
    expect(values.at(-1)).toBe(1n);
  });

  it.each([
    ['by the client before any answer', '/hold', undefined],
    ['by the service in the middle of the answer', '/half', 206n],
    ['by the service before any answer', '/drop', undefined],
  ])('that are aborted %s are marked', async (_, path, status) => {
    const service = new TracedProcess('service.mjs', { env: BOTH });
    const outgoing = request({ host: '127.0.0.1', port: await service.port(), path });
    outgoing.on('error', () => undefined);
    outgoing.on('response', (response) => {
      response.on('error', () => undefined).resume();
    });
    outgoing.end();
    const closed = new Promise((resolve) => outgoing.on('close', resolve));
    if (path === '/hold') {
      await service.printed(/^held$/m);
      outgoing.destroy();
    }
    await closed;
    await service.printed(new RegExp(`^done ${path}$`, 'm'));
    await service.get('/exit');
    await service.ended();
    expect(faultsOf(service.directory)).toEqual([]);
    expect(requestsOf(service.directory)).toContainEqual({
      method: 'GET',
      path,
      ...(status === undefined ? {} : { status }),
      failure: 'aborted',
    });
    expect(valuesInFlight(service).at(-1)).toBe(1n);
  });

  it('never leave their query, fragment or credentials anywhere', async () => {
    const service = new TracedProcess('service.mjs');
    const port = await service.port();
    await service.serve('/?token=s3cret');
    for (const target of [
      '/#s3cret',
      '/a?b=s3cret#s3cret',
      'http://user:s3cret@host/absolute?s3cret',
      'http://user:s3cret@host?s3cret',
      'http://user:s3cret@host',
    ]) {
      await raw(port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    }
    await end(service);
    expect(requestsOf(service.directory).map(({ path }) => path)).toEqual([
      '/',
      '/',
      '/a',
      '/absolute',
      '/',
      '/',
    ]);
    for (const name of readdirSync(service.directory, { recursive: true, encoding: 'utf8' })) {
      const path = join(service.directory, name);
      if (statSync(path).isFile()) expect(readFileSync(path, 'latin1')).not.toContain('s3cret');
    }
  });

  it('with a very long path are still recorded in a datagram', async () => {
    const service = new TracedProcess('service.mjs');
    await service.get(`/${'x'.repeat(8000)}`);
    await service.serve('/');
    await end(service);
    const [long, short] = requestsOf(service.directory).map(({ path }) => path as string);
    expect(long).toBe(`/${'x'.repeat(254)}…`);
    expect(short).toBe('/');
  });

  it('are recorded with the route where a router knows it', async () => {
    const service = new TracedProcess('routed-service.mjs');
    await service.get('/express/users/12');
    await service.get('/express/users/wrong');
    await service.get('/fastify/34?x=1');
    await service.get('/unknown');
    const port = await service.port();
    for (const path of ['/express/users/hold', '/fastify/hold']) {
      const aborted = connect(port, '127.0.0.1');
      aborted.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      await service.printed(new RegExp(`^held ${path}`, 'm'));
      aborted.destroy();
      await service.printed(new RegExp(`^done ${path}`, 'm'));
    }
    const open = connect(port, '127.0.0.1').on('error', () => undefined);
    open.write('GET /fastify/left/hold HTTP/1.1\r\nHost: a\r\n\r\n');
    await service.printed(/^held \/fastify\/left/m);
    await end(service);
    // Getters that frameworks call deprecated are not read.
    expect((await service.ended()).stderr).toBe('');
    const express = { route: '/express/users/:id', method: 'GET' };
    const fastify = { route: '/fastify/:id', method: 'GET' };
    const aborted = { failure: 'aborted' };
    expect(requestsOf(service.directory)).toEqual([
      { ...express, path: '/express/users/12', status: 200n },
      { ...express, path: '/express/users/wrong', status: 500n },
      { ...fastify, path: '/fastify/34', status: 400n },
      { method: 'GET', path: '/unknown', status: 404n },
      { ...express, path: '/express/users/hold', ...aborted },
      { ...fastify, path: '/fastify/hold', ...aborted },
      { ...fastify, path: '/fastify/left/hold' },
    ]);
  });
});

describe('outgoing requests', () => {
  it.each(['off', 'on'])(
    'are recorded for node:http and for fetch, with context %s',
    async (on) => {
      const service = new TracedProcess('client.mjs', { env: { TRACEWRIGHT_CONTEXT: on } });
      expect(await service.ended()).toMatchObject({ code: 0, stderr: '' });
      expect(faultsOf(service.directory)).toEqual([]);
      const calls = spansOf(service.directory)
        .filter(({ isRequest }) => !isRequest)
        .map(({ description, attributes }) => [
          description,
          attributes['http.request.method'],
          (attributes['url.full'] as string).replace(/^http:\/\/127\.0\.0\.1:\d+/, ''),
          attributes['http.response.status_code'],
          attributes['error.type'],
        ]);
      expect(calls.sort()).toEqual(
        [
          ['GET', 'GET', '/whole', 200n, undefined],
          ['GET', 'GET', '/cut', 200n, 'aborted'],
          ['GET', 'GET', '/refuse', undefined, 'ECONNRESET'],
          ['GET', 'GET', '/fetch/whole', 200n, undefined],
          ['GET', 'GET', '/fetch/cut', 200n, undefined],
          ['GET', 'GET', '/fetch/refuse', 200n, undefined],
          ['GET', 'GET', '/refuse', undefined, 'UND_ERR_SOCKET'],
        ].sort(),
      );
    },
  );
});
