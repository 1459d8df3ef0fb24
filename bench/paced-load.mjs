// Asks a service for so many answers a second, over connections that stay open, until it is killed.
//
//   node bench/paced-load.mjs PORT RATE

import { connect } from 'node:net';

const TICK_MS = 5;
const CONNECTIONS = 64;
/** Requests that wait for a free connection: further ones are not made up for. */
const MOST_WAITING = 1000;

const [port, rate] = process.argv.slice(2).map(Number);
const request = `GET /orders HTTP/1.1\r\nhost: localhost:${port}\r\n\r\n`;
/** @type {import('node:net').Socket[]} */
const free = [];
let waiting = 0;

/** @param {import('node:net').Socket} socket */
function next(socket) {
  if (waiting === 0) {
    free.push(socket);
    return;
  }
  waiting -= 1;
  socket.write(request);
}

for (let i = 0; i < CONNECTIONS; i++) {
  const socket = connect(port, '127.0.0.1', () => next(socket));
  socket.setNoDelay(true);
  // An answer is short enough to come in one piece.
  socket.on('data', () => next(socket));
  socket.on('error', () => process.exit(1));
}

let last = performance.now();
let due = 0;
setInterval(() => {
  const now = performance.now();
  due += ((now - last) / 1000) * rate;
  last = now;
  waiting = Math.min(MOST_WAITING, waiting + Math.floor(due));
  due %= 1;
  while (waiting > 0 && free.length > 0) next(free.pop());
}, TICK_MS);
