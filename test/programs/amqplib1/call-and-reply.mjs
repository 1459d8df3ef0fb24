// Calls by a queue for replies, as in RabbitMQ's tutorial: the reply of each call is heard below nobody but its sender.
import { randomUUID } from 'node:crypto';
import amqp from 'amqplib';
import { own } from '../program.mjs';

export const needs = ['rabbitmq'];
export const expected = `
own request 1
  own answer 11
  producer rabbitmq programs-calls
    consumer rabbitmq programs-calls
      own call 1
      producer rabbitmq (temporary)
        consumer rabbitmq (temporary)
own request 2
  own answer 12
  producer rabbitmq programs-calls
    consumer rabbitmq programs-calls
      own call 2
      producer rabbitmq (temporary)
        consumer rabbitmq (temporary)
`;
export const difference = 'OpenTelemetry has no names of queues. The tree is the same.';

export async function run() {
  const connection = await amqp.connect('amqp://guest:guest@127.0.0.1:5672');
  const channel = await connection.createChannel();
  await channel.assertQueue('programs-calls', { exclusive: true });
  const { queue: replies } = await channel.assertQueue('', { exclusive: true });
  await channel.consume('programs-calls', (message) => {
    const { replyTo, correlationId } = message.properties;
    own(`call ${message.content}`);
    channel.sendToQueue(replyTo, Buffer.from(`1${message.content}`), { correlationId });
    channel.ack(message);
  });
  const waiting = new Map();
  await channel.consume(
    replies,
    ({ properties, content }) => waiting.get(properties.correlationId)(String(content)),
    { noAck: true },
  );
  const request = (n) =>
    own(`request ${n}`, async () => {
      const correlationId = randomUUID();
      const answer = await new Promise((resolve) => {
        waiting.set(correlationId, resolve);
        channel.sendToQueue('programs-calls', Buffer.from(String(n)), {
          correlationId,
          replyTo: replies,
        });
      });
      own(`answer ${answer}`);
    });
  await Promise.all([request(1), request(2)]);
  await connection.close();
}
