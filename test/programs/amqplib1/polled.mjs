// A message that the program polls with `get` is below nobody else than who polls.
import amqp from 'amqplib';
import { own } from '../program.mjs';

export const needs = ['rabbitmq'];
export const expected = `
own open
own poll
  own polled
own request
  producer rabbitmq (temporary)
`;
export const difference = 'OpenTelemetry has no name of the queue.';

export async function run() {
  const connection = await own('open', () => amqp.connect('amqp://guest:guest@127.0.0.1:5672'));
  const channel = await connection.createConfirmChannel();
  const { queue } = await channel.assertQueue('', { exclusive: true });
  await own('request', async () => {
    channel.sendToQueue(queue, Buffer.from('1'));
    await channel.waitForConfirms();
  });
  await own('poll', async () => {
    const message = await channel.get(queue, { noAck: true });
    own(message === false ? 'nothing' : 'polled');
  });
  await connection.close();
}
