// HTTP/2 over a unix socket, in both ways: Node keeps no path of it. It is named by the host of the URL, without a port.
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { connect, createServer } from 'node:http2';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { own } from '../program.mjs';

export const expected = `
own caller
  client GET stock 200
    server GET (no route) 200
  client GET stock 200
    server GET (no route) 200
`;
export const alone = 'OpenTelemetry has no instrumentation of HTTP/2 clients.';

async function get(session) {
  const stream = session.request({ ':path': '/items' });
  stream.resume();
  await once(stream, 'close');
  session.close();
}

export async function run() {
  const server = createServer((_, response) => response.end('3'));
  const path = join(mkdtempSync(join(tmpdir(), 'tracewright-')), 'stock.sock');
  server.listen(path);
  await once(server, 'listening');
  await own('caller', async () => {
    await get(connect('http://stock', { path }));
    await get(connect('http://stock', { createConnection: () => net.connect(path) }));
  });
  server.close();
}
