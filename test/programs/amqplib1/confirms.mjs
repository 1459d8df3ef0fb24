// The broker confirms messages of two requests on one channel, by callbacks.
import amqp from 'amqplib';
import { own } from '../program.mjs';

export const needs = ['rabbitmq'];
export const expected = `
own open
own request 1
  own confirmed 1
  producer rabbitmq (temporary)
own request 2
  own confirmed 2
  producer rabbitmq (temporary)
`;
export const difference =
  'OpenTelemetry has the callback below the publish, which is over, and no name of the queue. The caller is right.';

export async function run() {
  const connection = await own('open', () => amqp.connect('amqp://guest:guest@127.0.0.1:5672'));
  const channel = await connection.createConfirmChannel();
  const { queue } = await channel.assertQueue('', { exclusive: true });
  const request = (n) =>
    own(
      `request ${n}`,
      () =>
        new Promise((resolve) => {
          channel.sendToQueue(queue, Buffer.from('1'), {}, () => {
            own(`confirmed ${n}`);
            resolve();
          });
        }),
    );
  await Promise.all([request(1), request(2)]);
  await connection.close();
}
