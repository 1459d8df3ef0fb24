// fetch posts a stream.
import { otherProcess, own } from '../program.mjs';

export const expected = `
own caller
  client POST stock 200
`;

/** Its answer says which headers it has received. */
function check(body) {
  if (!/^00-[\da-f]{32}-[\da-f]{16}-0[13]$/.test(JSON.parse(body).traceparent))
    throw new Error(body);
}

export async function run() {
  const url = await otherProcess('stock');
  await own('caller', async () => {
    const body = new Blob(['1', '2']).stream();
    const answer = await fetch(url, { method: 'POST', body, duplex: 'half' });
    check(await answer.text());
  });
}
