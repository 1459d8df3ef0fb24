// Sessions in Redis: the store reads before the handler, and saves while the response ends.
import express from 'express';
import session from 'express-session';
import { RedisStore } from 'connect-redis';
import { createClient } from 'redis';
import { ask, listen, own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
server GET /cart/:id 200
  client redis GET
  client redis SET
  own visit 2
server GET /cart/:id 200
  client redis SET
  own visit 1
`;

export async function run() {
  const client = createClient();
  await client.connect();
  const app = express();
  app.use(
    session({
      store: new RedisStore({ client, prefix: `programs:${process.pid}:`, ttl: 5 }),
      secret: 'secret',
      resave: false,
      saveUninitialized: false,
    }),
  );
  app.get('/cart/:id', (request, response) => {
    request.session.visits = (request.session.visits ?? 0) + 1;
    own(`visit ${request.session.visits}`);
    response.end();
  });
  const url = await listen(app.listen(0, '127.0.0.1'));
  const { headers } = await ask(`${url}/cart/7`);
  const cookie = headers['set-cookie'][0].split(';')[0];
  await ask(`${url}/cart/8`, { headers: { cookie } });
  await client.close();
}
