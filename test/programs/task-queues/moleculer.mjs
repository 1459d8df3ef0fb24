// A bulkhead of moleculer: an action that waits begins when another has ended.
import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceBroker } from 'moleculer';
import { own } from '../program.mjs';

export const expected = `
own request 1
  own action 1
  own after 1
own request 2
  own action 2
  own after 2
`;
export const difference =
  'OpenTelemetry has the second action below the request whose action ended before. The request that called is right.';

export async function run() {
  const broker = new ServiceBroker({ logger: false, bulkhead: { enabled: true, concurrency: 1 } });
  broker.createService({
    name: 'orders',
    actions: {
      async count({ params }) {
        own(`action ${params.n}`);
        await sleep(5);
      },
    },
  });
  await broker.start();
  const request = (n) =>
    own(`request ${n}`, async () => {
      await broker.call('orders.count', { n });
      own(`after ${n}`);
    });
  await Promise.all([request(1), request(2)]);
  await broker.stop();
}
