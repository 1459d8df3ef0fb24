// The API with callbacks: a request opens a channel on a connection that another has opened.
import amqp from 'amqplib/callback_api';
import { own } from '../program.mjs';

export const needs = ['rabbitmq'];
export const expected = `
own open
  own opened
own request
  own channel
  own queue
`;

const promised = (call) =>
  new Promise((resolve, reject) => {
    call((error, value) => (error ? reject(error) : resolve(value)));
  });
export const difference =
  'OpenTelemetry has the callbacks of a channel below who opened the connection. The request that called is right.';

export async function run() {
  const connection = await own('open', () =>
    promised((done) => {
      amqp.connect('amqp://guest:guest@127.0.0.1:5672', (error, value) => {
        own('opened');
        done(error, value);
      });
    }),
  );
  await own('request', () =>
    promised((done) => {
      connection.createChannel((_, channel) => {
        own('channel');
        channel.assertQueue('', { exclusive: true }, (error, value) => {
          own('queue');
          done(error, value);
        });
      });
    }),
  );
  await promised((done) => connection.close(done));
}
