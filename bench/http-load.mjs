// Where wrk is not installed: a process that keeps connections busy until it is killed.

import { connect } from 'node:net';

const [port, connections] = process.argv.slice(2).map(Number);
const path = process.argv[4] ?? '/';
const request = `GET ${path} HTTP/1.1\r\nhost: localhost:${port}\r\n\r\n`;

for (let i = 0; i < connections; i++) {
  const socket = connect(port, '127.0.0.1', () => socket.write(request));
  // An answer is short enough to come in one piece.
  socket.on('data', () => socket.write(request));
  socket.on('error', () => process.exit(1));
}
