// A proxy that makes tunnels, and what calls through it.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect } from 'node:net';
import { certificate } from '../certificate.mjs';
import { listen } from '../program.mjs';

/** @returns {Promise<{ hostname: string, port: number, href: string }>} */
export async function startProxy() {
  const server = createServer();
  server.on('connect', ({ url }, socket) => {
    const { hostname, port } = new URL(`http://${url}`);
    const other = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      socket.pipe(other).pipe(socket);
    });
    other.on('error', () => {}).on('close', () => socket.destroy());
    socket.on('error', () => {}).on('close', () => other.destroy());
  });
  const { hostname, port, href } = new URL(await listen(server, 'proxy'));
  return { hostname, port: Number(port), href };
}

/** @returns {Promise<string>} its URL, by http. */
export function startStock() {
  return listen(
    createServer((_, response) => response.end('3')),
    'stock',
  );
}

/** @returns {Promise<string>} its URL, by https. */
export async function startSecureStock() {
  const url = await listen(
    createSecureServer(certificate, (_, response) => response.end('3')),
    'stock',
  );
  // A name: TLS has none for addresses.
  return url.replace('http://127.0.0.1', 'https://localhost');
}

/** Reads the answer of a request of node:http or node:https. */
export async function answered(request) {
  const [answer] = await once(request, 'response');
  await answer.toArray();
}
