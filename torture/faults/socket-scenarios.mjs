// The faults of a collector that a Heph trace goes to; see scenarios.mjs.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const policies = ['block', 'drop'];

/** Reads what a process sends, from connections one after the other. */
class Collector {
  bytes = [];
  #server;
  #sockets = new Set();

  constructor() {
    this.#server = createServer((socket) => {
      const chunks = [];
      this.bytes.push(chunks);
      this.#sockets.add(socket);
      socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** Lets what comes lie. */
  stopReading() {
    for (const socket of this.#sockets) socket.pause();
  }

  readAgain() {
    for (const socket of this.#sockets) socket.resume();
  }

  /** Everything has come, and every connection has ended. */
  async ended() {
    while (this.#sockets.size > 0) await delay(20);
    await new Promise((resolve) => this.#server.close(resolve));
  }

  listen(where) {
    return new Promise((resolve) =>
      this.#server.listen(where, () => resolve(this.#server.address())),
    );
  }

  /** Goes away once nothing more has come for a while. */
  async goAway(resets = false) {
    for (let before = -1; before !== this.#size; await delay(200)) before = this.#size;
    for (const socket of this.#sockets) {
      if (resets) socket.resetAndDestroy();
      else socket.end();
    }
    await new Promise((resolve) => this.#server.close(resolve));
  }

  get #size() {
    return this.bytes.flat().reduce((sum, { length }) => sum + length, 0);
  }
}

const addressOf = (kind, place) =>
  kind === 'unix' ? { path: join(place, 'socket') } : { port: 0, host: '127.0.0.1' };
const targetOf = (where, address) =>
  where.path === undefined ? `tcp://127.0.0.1:${address.port}` : `unix:${where.path}`;

function saveReceived(place, collectors) {
  collectors
    .flatMap((each) => each.bytes)
    .forEach((chunks, i) => {
      writeFileSync(join(place, `received-${i}.heph`), Buffer.concat(chunks));
    });
}

async function peerReadsNothing({ start, place, events, options, kind }) {
  const where = addressOf(kind, place);
  const collector = new Collector();
  const target = targetOf(where, await collector.listen(where));
  const recording = await start(place, options, { target });
  await recording.emit(100);
  await delay(300);
  collector.stopReading();
  for (let i = 0; i < 10; i++) await recording.emit(events);
  const lost = await recording.end();
  collector.readAgain();
  await collector.ended();
  saveReceived(place, [collector]);
  return { recording, lost };
}

async function peerIsAbsent({ start, place, events, options, target }) {
  const recording = await start(place, options, { target });
  await recording.emit(events);
  await delay(300);
  await recording.emit(events);
  return { recording, lost: await recording.end() };
}

async function peerGoesAway({ start, place, events, options, kind, returns, resets }) {
  const where = addressOf(kind, place);
  const first = new Collector();
  const address = await first.listen(where);
  const target = targetOf(where, address);
  const recording = await start(place, options, { target });
  await recording.emit(events);
  await first.goAway(resets);
  await recording.emit(events);
  const collectors = [first];
  if (returns) {
    const second = new Collector();
    await second.listen(kind === 'unix' ? where : { ...where, port: address.port });
    collectors.push(second);
    await delay(1000);
    await recording.emit(events);
  }
  const lost = await recording.end();
  if (returns) await collectors[1].goAway();
  saveReceived(place, collectors);
  return { recording, lost };
}

export const socketScenarios = [
  ...['tcp', 'unix'].flatMap((kind) =>
    [false, true].map((returns) => ({
      fault: `${kind} peer goes away${returns ? ', and returns' : ''}`,
      formats: ['heph'],
      policies,
      run: (setting) => peerGoesAway({ ...setting, kind, returns }),
    })),
  ),
  {
    fault: 'tcp peer resets, and returns',
    formats: ['heph'],
    policies,
    run: (setting) => peerGoesAway({ ...setting, kind: 'tcp', returns: true, resets: true }),
  },
  ...['tcp', 'unix'].map((kind) => ({
    fault: `${kind} peer reads nothing`,
    formats: ['heph'],
    policies,
    // What the kernel has taken is not acknowledged by the end, and may arrive.
    mayArrive: true,
    run: (setting) => peerReadsNothing({ ...setting, kind }),
  })),
  ...[
    ['tcp peer is not there', () => 'tcp://127.0.0.1:9'],
    ['tcp peer of an unknown name', () => 'tcp://collector.invalid:4000'],
    ['unix peer is not there', (place) => `unix:${join(place, 'socket')}`],
  ].map(([fault, target]) => ({
    fault,
    formats: ['heph'],
    policies,
    run: (setting) => peerIsAbsent({ ...setting, target: target(setting.place) }),
  })),
  {
    fault: 'udp peer is not there',
    formats: ['heph'],
    policies: ['drop'],
    // Nothing acknowledges a datagram, and the network reports refusals as often as it likes.
    isUnknown: true,
    async run({ start, place, events, options }) {
      const recording = await start(place, options, { target: 'udp://127.0.0.1:9' });
      await recording.emit(events);
      await delay(300);
      return { recording, lost: await recording.end() };
    },
  },
];
