// A URL whose signature covers traceparent: the gateway has to send the header that was signed, and no other.
import { createServer, get } from 'node:http';
import { once } from 'node:events';
import { ask, listen, otherProcess, own } from '../program.mjs';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
export const expected = `
(remote) server GET (no route) 200
  client GET store 200
  client GET store 200
  client GET store 200
  own fetch: signed header
  own get of a list: signed header
  own get: signed header
`;
export const difference = 'OpenTelemetry replaces the signed header: the store refuses it.';
export const nodes = 24;

export async function run() {
  const store = await otherProcess('store');
  const query = 'X-Amz-SignedHeaders=host%3Btraceparent&X-Amz-Signature=1';
  const gateway = await listen(
    createServer(async (request, response) => {
      const { traceparent } = request.headers;
      const check = (client, text) => {
        const { traceparent: sent } = JSON.parse(text);
        own(`${client}: ${sent === traceparent ? 'signed header' : 'another header'}`);
      };
      check(
        'fetch',
        await (await fetch(`${store}/a?${query}`, { headers: { traceparent } })).text(),
      );
      for (const [name, headers] of [
        ['get', { traceparent }],
        ['get of a list', ['host', new URL(store).host, 'traceparent', traceparent]],
      ]) {
        const [answer] = await once(get(`${store}/a?${query}`, { headers }), 'response');
        check(name, Buffer.concat(await answer.toArray()).toString());
      }
      response.end();
    }),
  );
  await ask(gateway, { headers: { traceparent: `00-${TRACE}-b7ad6b7169203331-01` } });
}
