// Messages of two requests on one channel.
import amqp from 'amqplib';
import { own, until } from '../program.mjs';

export const needs = ['rabbitmq'];
export const expected = `
own open
own request 1
  producer rabbitmq (temporary)
    consumer rabbitmq (temporary)
      own consume 1
own request 2
  producer rabbitmq (temporary)
    consumer rabbitmq (temporary)
      own consume 2
`;
export const difference = 'OpenTelemetry has no name of a queue of the default exchange.';

export async function run() {
  const connection = await own('open', () => amqp.connect('amqp://guest:guest@127.0.0.1:5672'));
  const channel = await connection.createChannel();
  const { queue } = await channel.assertQueue('', { exclusive: true });
  let count = 0;
  await channel.consume(
    queue,
    (message) => {
      own(`consume ${message.content}`);
      count += 1;
    },
    { noAck: true },
  );
  own('request 1', () => channel.sendToQueue(queue, Buffer.from('1')));
  own('request 2', () => channel.sendToQueue(queue, Buffer.from('2')));
  await until(() => count === 2);
  await connection.close();
}
