// A consumer hands a message back: no failure, and the second delivery is below the sender, too.
import { connect } from 'amqplib';
import { own } from '../program.mjs';

export const expected = `
own ask
  producer rabbitmq programs-nack-and-requeue
    consumer rabbitmq programs-nack-and-requeue
    consumer rabbitmq programs-nack-and-requeue
`;
export const difference = 'OpenTelemetry reports an error of what was handed back.';
export const needs = ['rabbitmq'];

export async function run() {
  const connection = await connect('amqp://127.0.0.1');
  const channel = await connection.createChannel();
  const name = 'programs-nack-and-requeue';
  await channel.assertQueue(name, { autoDelete: true, durable: false });
  const done = new Promise((resolve) => {
    channel.consume(name, (message) => {
      if (message.fields.redelivered) {
        channel.ack(message);
        resolve();
      } else channel.nack(message, false, true);
    });
  });
  own('ask', () => channel.sendToQueue(name, Buffer.from('x')));
  await done;
  await connection.close();
}
