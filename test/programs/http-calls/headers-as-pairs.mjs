// node:http: headers as a list of pairs.
import { once } from 'node:events';
import { request } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own caller
  client GET stock 200
`;
export const nodes = 24;

/** Reads an answer that says which headers were received. */
async function check(answer) {
  let body = '';
  for await (const chunk of answer) body += chunk;
  if (!/^00-[\da-f]{32}-[\da-f]{16}-0[13]$/.test(JSON.parse(body).traceparent))
    throw new Error(body);
}

export async function run() {
  const url = await otherProcess('stock');
  await own('caller', async () => {
    const sent = request(url, {
      headers: [
        ['Host', new URL(url).host],
        ['X-One', '1'],
      ],
    });
    sent.end();
    const [answer] = await once(sent, 'response');
    await check(answer);
  });
}
