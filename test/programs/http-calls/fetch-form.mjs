// fetch posts a form with a file.
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
    const body = new FormData();
    body.set('file', new Blob(['1']), 'a.txt');
    const answer = await fetch(url, { method: 'POST', body });
    check(await answer.text());
  });
}
