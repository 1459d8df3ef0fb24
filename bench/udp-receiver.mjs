// The other end of bench/udp.mjs: counts Heph events that arrive in datagrams. A process of its own.

import { createSocket } from 'node:dgram';
import { clearInterval, setInterval } from 'node:timers';
import { parseArgs } from 'node:util';
import { decodePacket } from 'tracewright/heph';

const { values } = parseArgs({ options: { 'busy-ms': { type: 'string', default: '0' } } });
/** Of every 100 ms the receiver looks away this long. */
const busyMs = Number(values['busy-ms']);

const EVENT_MAGIC = 0xc1fc1fb7;
let datagrams = 0;
let events = 0;
let gaps = 0;
let next = 0;
let last = performance.now();

const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 });
socket.on('message', (datagram) => {
  datagrams += 1;
  last = performance.now();
  for (let at = 0; at < datagram.length;) {
    const size = datagram.readUInt32BE(at + 4);
    if (datagram.readUInt32BE(at) === EVENT_MAGIC) {
      // One in a thousand is looked at whole.
      if (events % 1000 === 0) decodePacket(datagram, at);
      const counter = datagram.readUInt32BE(at + 12);
      gaps += counter - next;
      next = counter + 1;
      events += 1;
    }
    at += size;
  }
});
socket.bind(0, '127.0.0.1', () => process.send?.({ port: socket.address().port }));
if (busyMs > 0) {
  setInterval(() => {
    const to = performance.now() + busyMs;
    while (performance.now() < to);
  }, 100).unref();
}

process.on('message', () => {
  const wait = setInterval(() => {
    // Nothing is under way on the loopback once the socket has been silent.
    if (performance.now() - last < 500) return;
    clearInterval(wait);
    process.send?.({ datagrams, events, gaps, next }, () => {
      socket.close();
      process.disconnect();
    });
  }, 50);
});
