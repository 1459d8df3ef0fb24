// A consumer sends the message on with its headers: the call is its own.
import { connect } from 'amqplib';
import { own } from '../program.mjs';

export const expected = `
own ask
  producer rabbitmq programs-republished
    consumer rabbitmq programs-republished
      producer rabbitmq programs-republished-next
        consumer rabbitmq programs-republished-next
`;
export const difference = "OpenTelemetry takes the copied header for the program's own.";
export const needs = ['rabbitmq'];

export async function run() {
  const connection = await connect('amqp://127.0.0.1');
  const channel = await connection.createChannel();
  const name = 'programs-republished';
  await channel.assertQueue(name, { autoDelete: true, durable: false });
  const next = `${name}-next`;
  await channel.assertQueue(next, { autoDelete: true, durable: false });
  const done = new Promise((resolve) => {
    channel.consume(next, resolve, { noAck: true });
  });
  await channel.consume(
    name,
    ({ content, properties }) => channel.sendToQueue(next, content, properties),
    { noAck: true },
  );
  own('ask', () => channel.sendToQueue(name, Buffer.from('x')));
  await done;
  await connection.close();
}
