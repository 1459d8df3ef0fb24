// github.com/aspecto-io/opentelemetry-ext-js/pull/174: the connection is lost before the broker confirms a message.
// The span of the message is over when it is sent.
import amqp from 'amqplib';
import { own } from '../program.mjs';

export const needs = ['rabbitmq'];
export const expected = `
own request
  own unconfirmed
  producer rabbitmq (temporary)
`;
export const difference = 'In OpenTelemetry the span of the message never ends.';

export async function run() {
  const connection = await amqp.connect('amqp://guest:guest@127.0.0.1:5672');
  connection.on('error', () => {});
  const channel = await connection.createConfirmChannel();
  channel.on('error', () => {});
  const { queue } = await channel.assertQueue('', { exclusive: true });
  await own(
    'request',
    () =>
      new Promise((resolve) => {
        channel.sendToQueue(queue, Buffer.from('1'), {}, (error) => {
          own(error === null ? 'confirmed' : 'unconfirmed');
          resolve();
        });
        connection.connection.stream.destroy(new Error('lost'));
      }),
  );
}
