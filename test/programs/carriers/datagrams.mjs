// A socket of datagrams that a request opens: what it receives is below nobody.
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { own } from '../program.mjs';

export const expected = `
own message
own request
  own listening
  own sent
`;
export const difference =
  'OpenTelemetry has all messages below the request that opened the socket, for ever.';

export async function run() {
  let socket;
  await own('request', async () => {
    socket = createSocket('udp4');
    socket.once('listening', () => own('listening'));
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    await new Promise((resolve) => {
      socket.send('a', 1, '127.0.0.1', () => {
        own('sent');
        resolve();
      });
    });
  });
  const received = new Promise((resolve) => {
    socket.on('message', () => {
      own('message');
      resolve();
    });
  });
  const sender = createSocket('udp4');
  sender.send('b', socket.address().port, '127.0.0.1', () => sender.close());
  await received;
  socket.close();
}
