// A client of NATS that the first request opens: its callbacks are below the request that subscribed, as long as that is
// open. Then they are below nobody.
import { createServer } from 'node:http';
import { connect } from '@nats-io/transport-node';
import { ask, listen, own, until } from '../program.mjs';

export const needs = ['nats'];
export const expected = `
own message 1
server GET (no route) 200
  own answered 1
  own message 1
server GET (no route) 200
  own answered 2
  own message 2
`;
export const difference =
  'OpenTelemetry has what the client calls back below the request that opened it, for ever.';

/** @param connects of either client. */
export async function useClient(connects, subject) {
  const servers = '127.0.0.1:4222';
  const other = await connects({ servers });
  other.subscribe(`${subject}.ask`, { callback: (_, message) => void message.respond('yes') });
  let client;
  let heard = 0;
  const url = await listen(
    createServer(async (request, response) => {
      const n = request.url.slice(1);
      client ??= connects({ servers });
      const nats = await client;
      await nats.request(`${subject}.ask`, '');
      own(`answered ${n}`);
      const isHeard = new Promise((resolve) => {
        nats.subscribe(`${subject}.${n}`, {
          callback() {
            own(`message ${n}`);
            heard += 1;
            resolve();
          },
        });
      });
      await nats.flush();
      other.publish(`${subject}.${n}`, '');
      await isHeard;
      response.end();
    }),
  );
  await Promise.all([ask(`${url}/1`), ask(`${url}/2`)]);
  other.publish(`${subject}.1`, '');
  await until(() => heard === 3);
  await (await client).close();
  await other.close();
}

export async function run() {
  await useClient(connect, `tracewright.nats3.${process.pid}`);
}
