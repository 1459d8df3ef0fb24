// A limit keeps the context of each task by itself.
import pLimit from 'p-limit';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own task 1
own request 2
  own task 2
`;

export async function run() {
  const limit = pLimit(1);
  const request = (n) =>
    own(`request ${n}`, () =>
      limit(async () => {
        await Promise.resolve();
        own(`task ${n}`);
      }),
    );
  await Promise.all([request(1), request(2)]);
}
