// amqp-connection-manager, which the first request opens: each message is below the request that sent it.
import { connect } from 'amqp-connection-manager';
import { own, until } from '../program.mjs';

export const needs = ['rabbitmq'];
export const expected = `
own request 1
  own confirmed 1
  producer rabbitmq (temporary)
    consumer rabbitmq (temporary)
      own consumed 1
  producer rabbitmq logs
own request 2
  own confirmed 2
  producer rabbitmq (temporary)
    consumer rabbitmq (temporary)
      own consumed 2
  producer rabbitmq logs
`;
export const difference =
  'OpenTelemetry has what waits for the connection below the request that opened it, or below none.';

export async function run() {
  let manager;
  let channel;
  let queue;
  let consumed = 0;
  const request = (n) =>
    own(`request ${n}`, async () => {
      if (channel === undefined) {
        manager = connect(['amqp://127.0.0.1']);
        channel = manager.createChannel({
          json: true,
          async setup(each) {
            ({ queue } = await each.assertQueue('', { exclusive: true }));
            await each.assertExchange('logs', 'fanout', { autoDelete: true });
            await each.consume(queue, (message) => {
              own(`consumed ${JSON.parse(message.content)}`);
              each.ack(message);
              consumed += 1;
            });
          },
        });
      }
      const published = channel.publish('logs', '', n);
      await channel.waitForConnect();
      await channel.sendToQueue(queue, n);
      await published;
      own(`confirmed ${n}`);
    });
  await Promise.all([request(1), request(2)]);
  await until(() => consumed === 2);
  await channel.close();
  await manager.close();
}
