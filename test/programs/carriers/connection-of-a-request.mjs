// A client that the program keeps, whose connection the first request opens: what it receives later is below nobody.
import { createServer } from 'node:http';
import net from 'node:net';
import { ask, listen, own, until } from '../program.mjs';

export const expected = `
own message
server GET (no route) 200
server GET (no route) 200
  own answer
`;
export const difference =
  'OpenTelemetry has all messages below the request that opened the connection, for ever.';

export async function run() {
  let served;
  const other = net.createServer((socket) => {
    served = socket;
    socket.once('data', () => socket.write('answer'));
  });
  await listen(other);
  let client;
  const heard = [];
  const url = await listen(
    createServer((request, response) => {
      if (client !== undefined) {
        response.end();
        return;
      }
      client = net.connect(other.address().port, '127.0.0.1');
      client.on('data', (data) => {
        own(String(data));
        heard.push(String(data));
        if (!response.writableEnded) response.end();
      });
      client.write('question');
    }),
  );
  await ask(url);
  await ask(url);
  served.write('message');
  await until(() => heard.length === 2);
  client.destroy();
}
