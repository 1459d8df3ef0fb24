// Answers that the program does not read, as needle leaves those that redirect: the end of the connection ends them.
import { get } from 'node:http';
import { otherProcess, own } from '../program.mjs';

export const expected = `
own request 1
  client GET stock 302
  own closed 1
own request 2
  client GET stock 302
  own closed 2
`;

export async function run() {
  const url = await otherProcess('stock', { '/old': { status: 302, headers: { location: '/' } } });
  const request = (n) =>
    own(
      `request ${n}`,
      () =>
        new Promise((resolve, reject) => {
          get(`${url}/old`, { headers: { connection: 'close' } }, () => undefined)
            .on('error', reject)
            .on('close', () => {
              own(`closed ${n}`);
              resolve();
            });
        }),
    );
  await Promise.all([request(1), request(2)]);
}
