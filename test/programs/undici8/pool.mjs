// undici: a pool of one connection, two callers at once.
import { Pool } from 'undici';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own caller
  own first
    client GET stock 200
    own first end
  own second
    client GET stock 200
    own second end
`;
export const nodes = 22;

/** Its answer says which headers it has received. */
function check(body) {
  if (!/^00-[\da-f]{32}-[\da-f]{16}-0[13]$/.test(JSON.parse(body).traceparent))
    throw new Error(body);
}

export async function run() {
  const url = await otherProcess('stock');
  const pool = new Pool(url, { connections: 1 });
  await own('caller', async () => {
    await Promise.all(
      ['first', 'second'].map((name) =>
        own(name, async () => {
          const { body } = await pool.request({ path: '/', method: 'GET' });
          body.once('end', () => own(`${name} end`));
          check(await body.text());
        }),
      ),
    );
    await pool.close();
  });
}
