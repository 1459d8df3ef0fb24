// A pool of one: what a request waits for is released by another.
import pools from 'generic-pool';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own use 1
own request 2
  own use 2
own request 3
  own use 3
`;

export async function run() {
  const pool = pools.createPool(
    { create: async () => ({}), destroy: async () => undefined },
    { max: 1 },
  );
  const request = (n) =>
    own(`request ${n}`, async () => {
      const resource = await pool.acquire();
      own(`use ${n}`);
      await pool.release(resource);
    });
  await Promise.all([request(1), request(2), request(3)]);
  await pool.drain();
  await pool.clear();
}
