// The server ends the connection: the client connects again, for no request.
import { createClient } from 'redis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own lost
own ready again
own request 1
  client redis CLIENT
own request 2
  client redis CLIENT
own request 3
  client redis GET
`;
export const difference =
  'OpenTelemetry has the second handshake below the request that opened the connection. It is of no request.';

export async function run() {
  const client = createClient();
  const other = createClient();
  client.on('error', () => own('lost'));
  await other.connect();
  const id = await own('request 1', async () => {
    await client.connect();
    return client.clientId();
  });
  const again = new Promise((resolve) => {
    client.once('ready', () => {
      own('ready again');
      resolve();
    });
  });
  await own('request 2', () => other.sendCommand(['CLIENT', 'KILL', 'ID', String(id)]));
  await again;
  await own('request 3', () => client.get(`programs:${process.pid}`));
  await client.close();
  await other.close();
}
