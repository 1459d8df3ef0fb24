// undici: a unix socket is named by its path, without a port.
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, Client, Pool, request } from 'undici';
import { own } from '../program.mjs';

export const expected = `
own caller
  client GET stock.sock 200
    server GET (no route) 200
  client GET stock.sock 200
    server GET (no route) 200
  client GET stock.sock 200
    server GET (no route) 200
`;
export const difference = 'OpenTelemetry has localhost.';
export const nodes = 22;

export async function run() {
  const server = createServer((_, response) => response.end('3'));
  process.chdir(mkdtempSync(join(tmpdir(), 'tracewright-')));
  const socketPath = 'stock.sock';
  server.listen(socketPath);
  await once(server, 'listening');
  const client = new Client('http://localhost', { socketPath });
  const pool = new Pool('http://localhost', { socketPath });
  const agent = new Agent({ connect: { socketPath } });
  await own('caller', async () => {
    await (await client.request({ path: '/', method: 'GET' })).body.dump();
    await (await pool.request({ path: '/', method: 'GET' })).body.dump();
    await (await request('http://localhost/items', { dispatcher: agent })).body.dump();
  });
  await client.close();
  await pool.close();
  await agent.close();
  server.close();
}
