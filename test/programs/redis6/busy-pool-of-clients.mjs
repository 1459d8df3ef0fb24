// A pool of one client, for which two of three requests wait: another one returns it to them.
import { createClientPool } from 'redis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own open
  client redis PING
own request 1
  client redis GET
  client redis MULTI
  client redis PING
  own executed 1
own request 2
  client redis GET
  client redis MULTI
  client redis PING
  own executed 2
own request 3
  client redis GET
  client redis MULTI
  client redis PING
  own executed 3
`;
export const difference =
  'OpenTelemetry has what waited below the request that returned the client.';

export async function run() {
  const pool = createClientPool({}, { minimum: 1, maximum: 1 });
  await pool.connect();
  await own('open', () => pool.ping());
  const request = (n) =>
    own(`request ${n}`, async () => {
      await pool.get('programs:none');
      await pool.execute(async (client) => {
        await client.ping();
        own(`executed ${n}`);
      });
      await pool.multi().get('programs:none').get('programs:none').exec();
    });
  await Promise.all([request(1), request(2), request(3)]);
  await pool.close();
}
