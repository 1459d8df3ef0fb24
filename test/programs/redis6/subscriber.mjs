// Listeners to messages: a request subscribes and waits; another has ended long before its message comes.
import { createClient } from 'redis';
import { own } from '../program.mjs';

export const needs = ['redis'];
export const expected = `
own heard late
own open
own request 1
  own heard
own request 2
own request 3
  client redis PUBLISH
  client redis PUBLISH
`;
export const difference =
  'OpenTelemetry has each message below the request that opened the connection. The request that waits for it is right.';

export async function run() {
  const subscriber = createClient();
  const client = createClient();
  await client.connect();
  await own('open', () => subscriber.connect());
  const channel = `programs:${process.pid}`;
  let subscribed;
  const isSubscribed = new Promise((resolve) => (subscribed = resolve));
  const waiting = own(
    'request 1',
    () =>
      new Promise((resolve) => {
        const heard = () => {
          own('heard');
          resolve();
        };
        subscriber.subscribe(channel, heard).then(subscribed);
      }),
  );
  let late;
  const isLate = new Promise((resolve) => (late = resolve));
  await own('request 2', () =>
    subscriber.subscribe(`${channel}:late`, () => {
      own('heard late');
      late();
    }),
  );
  await isSubscribed;
  await own('request 3', async () => {
    await client.publish(channel, '1');
    await client.publish(`${channel}:late`, '1');
  });
  await Promise.all([waiting, isLate]);
  await subscriber.close();
  await client.close();
}
