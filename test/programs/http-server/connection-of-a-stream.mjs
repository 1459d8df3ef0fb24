// HTTP on a stream of the program instead of a socket.
import { createServer } from 'node:http';
import { Duplex } from 'node:stream';
import { own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own data
  own end
  own finish
`;

export async function run() {
  const server = createServer((request, response) => {
    request.on('data', () => own('data'));
    request.on('end', () => {
      own('end');
      response.end();
    });
    response.on('finish', () => own('finish'));
  });
  await new Promise((resolve) => {
    const stream = new Duplex({
      read() {},
      write(chunk, _, done) {
        done();
        if (String(chunk).endsWith('0\r\n\r\n') || String(chunk).includes('Content-Length: 0'))
          setImmediate(resolve);
      },
    });
    server.emit('connection', stream);
    stream.push('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n');
    setImmediate(() => stream.push('abc'));
  });
}
