// A connection of AMQP 1.0 that the first request opens: its events are below nobody.
import { once } from 'node:events';
import rhea from 'rhea';
import { own } from '../program.mjs';

export const expected = `
own accepted 1
own accepted 2
own request 1
own request 2
`;
export const difference =
  'OpenTelemetry has all events below the request that opened the connection.';

export async function run() {
  const server = rhea.create_container().listen({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const { port } = server.address();
  let connection;
  let sender;
  const request = (n) =>
    own(`request ${n}`, async () => {
      if (connection === undefined) {
        connection = rhea.create_container().connect({ port, host: '127.0.0.1', reconnect: false });
        sender = connection.open_sender('orders');
        sender.on('accepted', ({ delivery }) => own(`accepted ${delivery.id + 1}`));
      }
      if (!sender.sendable()) await once(sender, 'sendable');
      sender.send({ body: n });
      await once(sender, 'accepted');
    });
  await Promise.all([request(1), request(2)]);
  connection.close();
  await once(connection, 'connection_close');
  server.close();
}
