// node:http: a unix socket is named by its path, without a port.
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { own } from '../program.mjs';

export const expected = `
own caller
  client GET stock.sock 200
    server GET (no route) 200
`;
export const difference = 'OpenTelemetry has localhost.';

export async function run() {
  const server = createServer((_, response) => response.end('3'));
  process.chdir(mkdtempSync(join(tmpdir(), 'tracewright-')));
  const socketPath = 'stock.sock';
  server.listen(socketPath);
  await once(server, 'listening');
  await own('caller', async () => {
    const [answer] = await once(get({ socketPath, path: '/items' }), 'response');
    await answer.resume().toArray();
  });
  server.close();
}
