// nock answers in place of a server: such a request is a call as others, by node:http and fetch.
import { once } from 'node:events';
import http from 'node:http';
import nock from 'nock';
import { own } from '../program.mjs';

export const expected = `
own caller
  client GET shop.example:80 200
  own after
`;

export async function run() {
  nock('http://shop.example').get('/items').reply(200, '3');
  await own('caller', async () => {
    const [answer] = await once(http.get('http://shop.example/items'), 'response');
    await answer.toArray();
    own('after');
  });
  nock.restore();
}
