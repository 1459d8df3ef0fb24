// A queue that begins a task when another request's has ended.
import PQueue from 'p-queue';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own task 1
own request 2
  own task 2
own request 3
  own task 3
`;
export const difference =
  'OpenTelemetry has a task below the request whose task ended before. The request that added it is right.';

export async function run() {
  const queue = new PQueue({ concurrency: 1 });
  const request = (n) =>
    own(`request ${n}`, () =>
      queue.add(async () => {
        await Promise.resolve();
        own(`task ${n}`);
      }),
    );
  await Promise.all([request(1), request(2), request(3)]);
}
