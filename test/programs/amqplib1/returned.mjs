// The broker returns a message that no queue gets: an event of the channel, of no request.
import amqp from 'amqplib';
import { own } from '../program.mjs';

export const needs = ['rabbitmq'];
export const expected = `
own open
own request
  producer rabbitmq amq.direct
own returned
`;
export const difference =
  'OpenTelemetry has the event below who opened the channel, for ever. It is of no request.';

export async function run() {
  const channel = await own('open', async () => {
    const connection = await amqp.connect('amqp://guest:guest@127.0.0.1:5672');
    return connection.createChannel();
  });
  const returned = new Promise((resolve) => {
    channel.on('return', () => {
      own('returned');
      resolve();
    });
  });
  own('request', () =>
    channel.publish('amq.direct', 'nowhere', Buffer.from('1'), { mandatory: true }),
  );
  await returned;
  await channel.connection.close();
}
