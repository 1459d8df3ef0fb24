import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { temporaryDirectory } from '../heph/temporary-file.js';
import { Receiver } from './receiver.js';
import { endAll, killedTrace, ShipProcess } from './shipped.js';

const directory = temporaryDirectory();
const openssl = (...args: string[]): number | null =>
  spawnSync('openssl', args, { cwd: directory, stdio: 'ignore' }).status;
const hasOpenssl = openssl('version') === 0;

/** A certificate that signs itself, for 127.0.0.1. */
function certificate(name: string): void {
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`];
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files);
}

const pem = (name: string): string => join(directory, name);
const traces = join(directory, 'traces');
let checkpoints = 0;
const shipOnce = (url: string, env: NodeJS.ProcessEnv): ShipProcess =>
  new ShipProcess(
    [traces, '--to', url, '--once', '--checkpoint', join(directory, `checkpoint-${++checkpoints}`)],
    env,
  );

mkdirSync(traces);
killedTrace(join(traces, 'killed.heph'), 5);
if (hasOpenssl) ['server', 'client'].forEach(certificate);
afterEach(endAll);

describe.skipIf(!hasOpenssl)('ship over TLS', () => {
  it('trusts the certificate that a variable names, and shows its own', async () => {
    const receiver = await new Receiver({
      key: readFileSync(pem('server.key')),
      cert: readFileSync(pem('server.pem')),
      ca: readFileSync(pem('client.pem')),
      requestCert: true,
    }).listen();
    const process = shipOnce(receiver.url, {
      OTEL_EXPORTER_OTLP_CERTIFICATE: pem('server.pem'),
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: pem('client.pem'),
      OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: pem('client.key'),
    });
    expect(await process.end()).toBe(0);
    expect(receiver.spans).toHaveLength(11);
    await receiver.close();
  });

  it('stops for a certificate that it does not trust', async () => {
    const receiver = await new Receiver({
      key: readFileSync(pem('server.key')),
      cert: readFileSync(pem('server.pem')),
    }).listen();
    const process = shipOnce(receiver.url, {});
    await vi.waitFor(
      () => {
        expect(process.output).toMatch(/stopped, asked once a minute: self.signed certificate/);
      },
      { timeout: 30_000 },
    );
    expect(await process.end('SIGTERM')).toBe(1);
    expect(receiver.requests).toHaveLength(0);
    await receiver.close();
  });
});

describe('ship through a proxy', () => {
  it.each(hasOpenssl ? ['http', 'https'] : ['http'])('sends to %s:', async (scheme) => {
    const isTls = scheme === 'https';
    const receiver = await new Receiver(
      isTls
        ? { key: readFileSync(pem('server.key')), cert: readFileSync(pem('server.pem')) }
        : undefined,
    ).listen();
    const seen: string[] = [];
    const proxy = createServer((incoming, response) => {
      seen.push(`${incoming.method} ${incoming.url} ${incoming.headers['proxy-authorization']}`);
      const forward = request(
        incoming.url!,
        { method: incoming.method!, headers: incoming.headers },
        (answer) => answer.pipe(response.writeHead(answer.statusCode!)),
      );
      incoming.pipe(forward);
    });
    proxy.on('connect', (incoming, socket) => {
      seen.push(`CONNECT ${incoming.url} ${incoming.headers['proxy-authorization']}`);
      const [host, port] = incoming.url!.split(':');
      const upstream = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 connected\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    const process = shipOnce(receiver.url, {
      [isTls ? 'HTTPS_PROXY' : 'HTTP_PROXY']: `http://user:word@127.0.0.1:${port}`,
      NO_PROXY: 'example.com',
      OTEL_EXPORTER_OTLP_CERTIFICATE: isTls ? pem('server.pem') : '',
    });
    expect(await process.end()).toBe(0);
    expect(receiver.spans).toHaveLength(11);
    const basic = `Basic ${Buffer.from('user:word').toString('base64')}`;
    const target = receiver.url.slice(`${scheme}://`.length);
    expect(seen[0]).toBe(
      isTls ? `CONNECT ${target} ${basic}` : `POST ${receiver.url}/v1/traces ${basic}`,
    );
    proxy.closeAllConnections();
    proxy.close();
    await receiver.close();
  });
});
