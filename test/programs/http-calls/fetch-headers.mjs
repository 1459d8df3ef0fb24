// fetch with Headers.
import { otherProcess, own } from '../program.mjs';

export const expected = `
own caller
  client GET stock 200
`;

/** Its answer says which headers it has received. */
function check(body) {
  if (!/^00-[\da-f]{32}-[\da-f]{16}-0[13]$/.test(JSON.parse(body).traceparent))
    throw new Error(body);
}

export async function run() {
  const url = await otherProcess('stock');
  await own('caller', async () => {
    const headers = new Headers([['x-tenant', '7']]);
    const answer = await fetch(url, { headers });
    check(await answer.text());
  });
}
