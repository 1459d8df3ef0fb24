// node:http: Expect has the constructor make the headers.
import { once } from 'node:events';
import { request } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own caller
  client POST stock 200
`;

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
    const sent = request(url, { method: 'POST', headers: { Expect: '100-continue' } });
    sent.once('continue', () => sent.end('3'));
    sent.flushHeaders();
    const [answer] = await once(sent, 'response');
    await check(answer);
  });
}
