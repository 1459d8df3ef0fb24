// github.com/aspecto-io/opentelemetry-ext-js/issues/175: the broker cancels a consumer, which gets null for a message.
import amqp from 'amqplib';
import { own } from '../program.mjs';

export const needs = ['rabbitmq'];
export const expected = `
own cancelled
own request
`;

export async function run() {
  const connection = await amqp.connect('amqp://guest:guest@127.0.0.1:5672');
  const channel = await connection.createChannel();
  const { queue } = await channel.assertQueue('', { durable: false });
  let cancelled;
  const isCancelled = new Promise((resolve) => {
    cancelled = resolve;
  });
  await own('request', () =>
    channel.consume(queue, (message) => {
      if (message !== null) return;
      own('cancelled');
      cancelled();
    }),
  );
  await channel.deleteQueue(queue);
  await isCancelled;
  await connection.close();
}
