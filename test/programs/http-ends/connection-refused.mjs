// Nobody listens there.
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import { namePort, own } from '../program.mjs';

export const expected = `
own call
  client GET nobody - !ECONNREFUSED
  own after
`;

export async function run() {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  namePort(port, 'nobody');
  await new Promise((resolve) => server.close(resolve));
  await own('call', async () => {
    const request = get({ port, host: '127.0.0.1' });
    request.on('error', () => {});
    await new Promise((resolve) => request.once('close', resolve));
    own('after');
  });
}
