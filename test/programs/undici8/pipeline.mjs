// undici: pipeline.
import { pipeline } from 'undici';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own caller
  client PUT stock 200
`;
export const nodes = 22;

/** Its answer says which headers it has received. */
function check(body) {
  if (!/^00-[\da-f]{32}-[\da-f]{16}-0[13]$/.test(JSON.parse(body).traceparent))
    throw new Error(body);
}

export async function run() {
  const url = await otherProcess('stock');
  await own('caller', async () => {
    const sent = pipeline(url, { method: 'PUT' }, ({ body }) => body);
    sent.end('3');
    let text = '';
    for await (const chunk of sent) text += chunk;
    check(text);
  });
}
