// A server of net gives its connections to one of HTTP, which never listens.
import { createServer } from 'node:http';
import * as net from 'node:net';
import { ask, listen, own } from '../program.mjs';

export const expected = `
server POST (no route) 200
  own data
  own end
  own finish
`;

export async function run() {
  const http = createServer((request, response) => {
    request.on('data', () => own('data'));
    request.on('end', () => {
      own('end');
      response.end();
    });
    response.on('finish', () => own('finish'));
  });
  const server = net.createServer((socket) => http.emit('connection', socket));
  await ask(await listen(server), { method: 'POST', body: 'small' });
}
