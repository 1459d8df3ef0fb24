// fetch follows a redirect: two calls of one caller.
import { otherProcess, own } from '../program.mjs';

export const expected = `
own caller
  client GET stock 200
  client GET stock 302
`;

export async function run() {
  const answers = { '/old': { status: 302, headers: { location: '/new' } } };
  const url = await otherProcess('stock', answers);
  await own('caller', async () => {
    await (await fetch(`${url}/old`)).text();
  });
}
