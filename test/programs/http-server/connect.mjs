// A proxy opens a tunnel, and its work for that is below the request.
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { listen, otherProcess, own, raw } from '../program.mjs';

export const expected = `
server CONNECT (no route) -
  own connect
  own connected
`;
export const difference = 'OpenTelemetry has no span for CONNECT. It is a request as any other.';

export async function run() {
  const target = await otherProcess('target', { '/': { body: 'through' } });
  const server = createServer();
  server.on('connect', (request, client) => {
    own('connect');
    const [host, port] = request.url.split(':');
    const upstream = connect(Number(port), host, () => {
      own('connected');
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
  });
  const { host } = new URL(target);
  const inner = `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
  await raw(await listen(server), [
    `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
    null,
    inner,
  ]);
}
