import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { Target } from '../../../src/heph/index.js';
import type { EventPacket, Packet } from '../../../src/heph/packet.js';
import { PacketDecoder } from '../../../src/heph/read/reader.js';

/** One connection that a collector has accepted. */
export class Connection {
  readonly packets: Packet[] = [];
  readonly socket: Socket;
  ended = false;
  readonly #decoder = new PacketDecoder('connection');

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => this.packets.push(...this.#decoder.push(chunk)));
    socket.on('end', () => {
      // Throws when the connection ended inside a packet.
      this.#decoder.end();
      this.ended = true;
    });
  }

  get events(): EventPacket[] {
    return this.packets.filter((packet): packet is EventPacket => packet.kind === 'event');
  }
}

/** A collector over TCP or a unix socket that can go away and come back. */
export class Collector {
  readonly connections: Connection[] = [];
  /** Called with each connection as it comes. */
  onConnection: ((connection: Connection) => void) | undefined;
  readonly target: Target;
  #server: Server;
  readonly #address: string | number;

  private constructor(server: Server, path: string | undefined) {
    this.#server = server;
    const port = path === undefined ? (server.address() as AddressInfo).port : 0;
    this.#address = path ?? port;
    this.target = path === undefined ? { tcp: { host: '127.0.0.1', port } } : { unix: path };
    this.#accept();
  }

  /** @param path of a unix socket; undefined: TCP. */
  static async listen(path?: string): Promise<Collector> {
    const server = createServer();
    if (path === undefined) server.listen(0, '127.0.0.1');
    else server.listen(path);
    await once(server, 'listening');
    return new Collector(server, path);
  }

  #accept(): void {
    this.#server.on('connection', (socket) => {
      const connection = new Connection(socket);
      this.connections.push(connection);
      this.onConnection?.(connection);
    });
  }

  /** Everything that came, over all connections. */
  get events(): EventPacket[] {
    return this.connections.flatMap(({ events }) => events);
  }

  /** Stops listening and cuts every connection. */
  async leave(): Promise<void> {
    for (const { socket } of this.connections) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async comeBack(): Promise<void> {
    this.#server = createServer();
    this.#accept();
    if (typeof this.#address === 'string') this.#server.listen(this.#address);
    else this.#server.listen(this.#address, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Resolves when `enough` is content; looks again with every turn of the event loop. */
  async until(enough: () => boolean): Promise<void> {
    while (!enough()) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
