// Two requests share a connection of memjs, which the first has opened.
import net from 'node:net';
import memjs from 'memjs';
import { listen, own } from '../program.mjs';

export const expected = `
own request 1
  own got 1
own request 2
  own got 2
`;
export const difference =
  'OpenTelemetry has callbacks below the request that opened the connection. The request that asked is right.';

const HEADER_BYTES = 24;

/** An answer of Memcached's binary protocol: there is no such key. */
function notFound(request) {
  const answer = Buffer.alloc(HEADER_BYTES);
  answer[0] = 0x81;
  answer[1] = request[1];
  answer.writeUInt16BE(1, 6);
  request.copy(answer, 12, 12, 16);
  return answer;
}

export async function run() {
  const server = net.createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      while (received.length >= HEADER_BYTES) {
        const answer = notFound(received);
        received = received.subarray(HEADER_BYTES + received.readUInt32BE(8));
        setTimeout(() => socket.write(answer), 5);
      }
    });
  });
  await listen(server);
  let client;
  const request = (n) =>
    own(
      `request ${n}`,
      () =>
        new Promise((resolve) => {
          client ??= memjs.Client.create(`127.0.0.1:${server.address().port}`);
          client.get(`key ${n}`, () => {
            own(`got ${n}`);
            resolve();
          });
        }),
    );
  await Promise.all([request(1), request(2)]);
  client.close();
}
