import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpConnection, proxyOf } from '../../src/ship/http-connection.js';
import { OtlpHttpTarget } from '../../src/ship/otlp-http.js';
import type { OtlpSettings } from '../../src/ship/otlp-settings.js';
import { metricsText } from '../../src/ship/metrics-text.js';
import type { ShipBatch } from '../../src/ship/target.js';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { endAll, killedTrace, ShipProcess } from './shipped.js';

const servers: Server[] = [];
const sockets = new Set<Socket>();
afterEach(() => {
  endAll();
  for (const server of servers.splice(0)) server.close();
  for (const socket of sockets) socket.destroy();
});

/** A server that treats each connection as `serve` says, once it has got something. */
async function serving(serve: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => undefined)
      .once('data', () => {
        serve(socket);
      });
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ENDS: Record<string, (socket: Socket) => void> = {
  'answers 101': (socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n');
  },
  'answers 101 without a word more': (socket) => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n');
  },
  'closes without an answer': (socket) => socket.end(),
  'resets the connection': (socket) => socket.resetAndDestroy(),
  'closes within the head': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-'),
  'closes within the answer': (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc');
  },
  'closes within a chunk': (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab');
  },
  'answers 100 and closes': (socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n'),
  'answers something else': (socket) => socket.end('SSH-2.0-x\r\n'),
};

function targetAt(host: string, timeoutMs = 5000): OtlpHttpTarget {
  return new OtlpHttpTarget({
    url: new URL(`http://${host}/v1/traces`),
    compression: 'none',
    timeoutMs,
    headers: () => ({}),
  } as unknown as OtlpSettings);
}

const nothing = { spans: [] } as unknown as ShipBatch;
const { signal } = new AbortController();

describe('every end of an exchange', () => {
  it.each(Object.keys(ENDS))('is a reason to repeat it: the server %s', async (name) => {
    const target = targetAt(await serving(ENDS[name]!));
    const outcome = await target.send(nothing, signal);
    expect(outcome.kind).toBe('retry');
    expect(outcome).toHaveProperty('reason', expect.stringMatching(/./));
    await target.close();
  });

  it.each(Object.keys(ENDS))('of a proxy, too: it %s', async (name) => {
    const proxy = new URL(`http://${await serving(ENDS[name]!)}`);
    const connection = new HttpConnection(new URL('https://backend.invalid/'), {}, proxy);
    await expect(connection.post(Buffer.from('x'), {}, signal)).rejects.toThrow(/./);
    connection.close();
  });

  it('is named when it is a timeout', async () => {
    const target = targetAt(await serving(() => undefined), 50);
    expect(await target.send(nothing, signal)).toEqual({
      kind: 'retry',
      reason: 'no answer within 50 ms',
    });
    await target.close();
  });

  it('ends the command with 1 if nothing arrives', async () => {
    const run = temporaryDirectory();
    killedTrace(join(run, 'killed.heph'), 5);
    const url = `http://${await serving(ENDS['answers 101']!)}`;
    const shipping = new ShipProcess([run, '--to', url, '--checkpoint', join(run, 'checkpoint')]);
    for (let tries = 0; tries < 600 && !shipping.output.includes('retrying'); tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(shipping.child.exitCode).toBeNull();
    expect(await shipping.end('SIGTERM')).toBe(1);
    expect(shipping.output).toContain('HTTP 101');
    expect(shipping.output).toContain('has not arrived');
  }, 60_000);
});

describe('a proxy', () => {
  const url = new URL('http://backend/');
  it('needs no scheme', () => {
    expect(proxyOf(url, { HTTP_PROXY: 'proxy.example:3128' })?.host).toBe('proxy.example:3128');
    expect(proxyOf(url, { HTTP_PROXY: 'localhost' })?.host).toBe('localhost');
    expect(proxyOf(url, { HTTP_PROXY: 'user:secret@proxy:80' })?.password).toBe('secret');
  });

  it.each(['http://', 'https://proxy:3128', 'socks5://user:secret@proxy', '://', 'a b'])(
    'that is none is a typed error without its password: %s',
    (text) => {
      const call = (): unknown => proxyOf(url, { HTTP_PROXY: text });
      expect(call).toThrow(
        expect.objectContaining({ code: 'ERR_ARGUMENT_RANGE', field: 'HTTP_PROXY' }),
      );
      expect(call).not.toThrow(/secret/);
    },
  );
});

it('labels of metrics have no control characters', () => {
  const label = 'a\u001b[31m\n\r\u0085"\\';
  const counts = { spans: 1, refused: 0, invalid: 0, retries: 0 };
  const shipper = { target: { label }, counts, lagMs: 0 };
  const text = metricsText([shipper as never], undefined, false);
  expect(text).toContain('target="a\ufffd[31m\\n\ufffd\ufffd\\"\\\\"');
  expect(text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
});
