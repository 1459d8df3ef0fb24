import { integerIn, ofType, ownOptions } from '../../core/options/argument.js';
import { TraceFormatError } from '../../core/errors.js';
import { takeBytes } from '../../core/taken-elements.js';
import { DEFINITION_STREAM, PACKET_HEAD_BYTES } from '../layout.js';
import type { EventPacket, Packet } from '../packet.js';
import { PacketDecoding } from './packet-decoding.js';
import { PacketDecoder } from './reader.js';
import { StreamOrder } from './stream-order.js';
import type { StreamCounts } from './stream-order.js';

const MOST = 1 << 20;

/** Options of {@link PacketReceiver}. */
export interface ReceiverOptions {
  /**
   * Events of a stream that wait for one before them, which they may have overtaken: 1 to 1,048,576. So many
   * events and gaps of the past are known, too. Default: 256.
   */
  window?: number;
  /** Largest packet in bytes. Default: 4 MiB; once decoded, it takes up to fifteen times its size. */
  maxPacketBytes?: number;
  /** Bytes of the packets of all streams that may wait. Default: 16 MiB. */
  maxHeldBytes?: number;
  /** Senders that are known at a time; the one that was silent longest is forgotten. Default: 256. */
  maxSenders?: number;
  /** Streams of a sender that are known at a time, likewise. Default: 64. */
  maxStreams?: number;
}

/** A packet, who sent it, and what its times count from. */
export interface ReceivedPacket {
  sender: string;
  packet: Packet;
  /** Nanoseconds since the Unix epoch, as the sender has said; undefined: not yet in this run. */
  epoch: bigint | undefined;
}

/** Counts of a stream of a sender. */
export interface ReceivedStream extends Readonly<StreamCounts> {
  sender: string;
  /** Its number, u32. */
  stream: number;
}

/** The bytes of a connection. */
export interface ReceivedConnection {
  /** The fault of the bytes: nothing more is read of the connection, so close it. */
  readonly fault: TraceFormatError | undefined;
  /** Takes the next bytes; returns the packets that can be yielded now. */
  push(bytes: Uint8Array): ReceivedPacket[];
  /** The connection has ended; inside a packet is a fault. What was held for events before it is returned. */
  end(): ReceivedPacket[];
}

interface Sender {
  readonly name: string;
  readonly streams: Map<number, StreamOrder>;
  epoch: bigint | undefined;
  /** Of the run before, whose packets may still be on their way. */
  earlierEpoch: bigint | undefined;
}

/** Takes an entry as the one that was used last, and makes room for a new one. */
function recent<Key, Value>(
  map: Map<Key, Value>,
  key: Key,
  most: number,
  make: () => Value,
  forget: (value: Value) => void,
): Value {
  let value = map.get(key);
  if (value !== undefined) map.delete(key);
  else {
    if (map.size >= most) {
      const [oldest, forgotten] = map.entries().next().value!;
      map.delete(oldest);
      forget(forgotten);
    }
    value = make();
  }
  map.set(key, value);
  return value;
}

/**
 * The other end of Heph over UDP, TCP and unix sockets: it takes datagrams and the bytes of connections, and
 * returns packets. Events of a stream are returned in the order of their counters; what is missing is
 * counted. An event of a datagram that came too early waits until `window` others do, or `release` is called. Whatever it is
 * given, its memory is bounded by its options.
 *
 * A sender is what the caller says: the address and port of a datagram, or a name for each connection. If
 * a sender that connects again keeps its name, what it sends again is dropped as a duplicate.
 */
export class PacketReceiver {
  /** Datagrams and connections with invalid bytes. */
  faults = 0;
  /** The last of them. */
  lastFault: TraceFormatError | undefined;
  readonly #window: number;
  readonly #maxPacketBytes: number;
  readonly #maxHeldBytes: number;
  readonly #maxSenders: number;
  readonly #maxStreams: number;
  /** The one that was heard last is the last. */
  readonly #senders = new Map<string, Sender>();
  #heldBytes = 0;

  /** @throws TracewrightError for a wrong option. */
  constructor(options: ReceiverOptions = {}) {
    const {
      window = 256,
      maxPacketBytes = 4 << 20,
      maxHeldBytes = 16 << 20,
      maxSenders = 256,
      maxStreams = 64,
    } = ownOptions(options, [
      'window',
      'maxPacketBytes',
      'maxHeldBytes',
      'maxSenders',
      'maxStreams',
    ]);
    this.#window = integerIn('window', window, 1, MOST);
    this.#maxPacketBytes = integerIn('maxPacketBytes', maxPacketBytes, 64, 0xffff_ffff);
    this.#maxHeldBytes = integerIn('maxHeldBytes', maxHeldBytes, 0, Number.MAX_SAFE_INTEGER);
    this.#maxSenders = integerIn('maxSenders', maxSenders, 1, MOST);
    this.#maxStreams = integerIn('maxStreams', maxStreams, 1, MOST);
  }

  /**
   * Takes a datagram: one or more whole packets. Packets before an invalid one count; the rest of the datagram
   * is dropped, and counted in `faults`.
   */
  datagram(sender: string, bytes: Uint8Array): ReceivedPacket[] {
    const name = ofType('sender', sender, 'string');
    const taken = takeBytes('bytes', bytes);
    const decoding = new PacketDecoding(name, this.#maxPacketBytes);
    decoding.setBytes(taken, 0);
    const out: ReceivedPacket[] = [];
    try {
      for (let at = 0; at < taken.length;) {
        const left = taken.length - at;
        if (left < PACKET_HEAD_BYTES) throw decoding.headCut(at, left);
        const packet = decoding.decode(at, decoding.size(at, left));
        this.#take(name, packet, out, false);
        at += packet.size;
      }
    } catch (error) {
      this.#noteFault(error);
    }
    return out;
  }

  /** Begins to take the bytes of a connection. */
  connection(sender: string): ReceivedConnection {
    const name = ofType('sender', sender, 'string');
    const decoder = new PacketDecoder(name, { maxPacketBytes: this.#maxPacketBytes });
    let fault: TraceFormatError | undefined;
    const guarded = (out: ReceivedPacket[], step: () => void): ReceivedPacket[] => {
      if (fault !== undefined) return out;
      try {
        step();
      } catch (error) {
        fault = this.#noteFault(error);
      }
      return out;
    };
    return {
      get fault() {
        return fault;
      },
      push: (bytes) => {
        const out: ReceivedPacket[] = [];
        const taken = takeBytes('bytes', bytes);
        return guarded(out, () => {
          for (const packet of decoder.push(taken)) this.#take(name, packet, out, true);
          // A fault after whole packets is thrown by the next call.
          decoder.push(taken.subarray(taken.length));
        });
      },
      end: () => {
        guarded([], () => {
          decoder.end();
        });
        return this.release(name);
      },
    };
  }

  /** Yields what waits for events before it, of one sender or of all: for a quiet moment, or the end. */
  release(sender?: string): ReceivedPacket[] {
    const out: ReceivedPacket[] = [];
    for (const each of this.#senders.values()) {
      if (sender !== undefined && each.name !== sender) continue;
      for (const order of each.streams.values()) this.#release(each, order, out);
    }
    return out;
  }

  /** The streams that are known, with their counts. */
  *streams(): Generator<ReceivedStream, void> {
    for (const { name, streams } of this.#senders.values()) {
      for (const [stream, { counts }] of streams) yield { sender: name, stream, ...counts };
    }
  }

  #noteFault(error: unknown): TraceFormatError {
    if (!(error instanceof TraceFormatError)) throw error;
    this.faults++;
    this.lastFault = error;
    return error;
  }

  /** @param inOrder nothing is overtaken on its way, so nothing waits. */
  #take(name: string, packet: Packet, out: ReceivedPacket[], inOrder: boolean): void {
    const sender = recent(
      this.#senders,
      name,
      this.#maxSenders,
      () => ({
        name,
        streams: new Map(),
        epoch: undefined,
        earlierEpoch: undefined,
      }),
      (forgotten: Sender) => {
        for (const order of forgotten.streams.values()) this.#release(forgotten, order, out);
      },
    );
    if (packet.kind === 'event' && packet.stream !== DEFINITION_STREAM) {
      this.#order(sender, packet, out, inOrder);
      return;
    }
    if (packet.kind === 'metadata' && packet.epoch !== undefined) {
      this.#noteEpoch(sender, packet.epoch, out);
    }
    out.push({ sender: name, packet, epoch: sender.epoch });
  }

  /** Another epoch is another run of the program, unless it is late. */
  #noteEpoch(sender: Sender, epoch: bigint, out: ReceivedPacket[]): void {
    if (epoch === sender.epoch || epoch === sender.earlierEpoch) return;
    if (sender.epoch !== undefined) this.#begin(sender, out);
    sender.epoch = epoch;
  }

  /** All streams begin anew. What the new times count from is not known yet. */
  #begin(sender: Sender, out: ReceivedPacket[]): void {
    for (const order of sender.streams.values()) {
      this.#add(sender, order, out, (events) => {
        order.begin(events);
      });
    }
    sender.earlierEpoch = sender.epoch ?? sender.earlierEpoch;
    sender.epoch = undefined;
  }

  #order(sender: Sender, event: EventPacket, out: ReceivedPacket[], inOrder: boolean): void {
    const order = recent(
      sender.streams,
      event.stream,
      this.#maxStreams,
      () => new StreamOrder(this.#window),
      (forgotten) => {
        this.#release(sender, forgotten, out);
      },
    );
    const take = (events: EventPacket[]): boolean => order.take(event, events, inOrder);
    if (!this.#add(sender, order, out, take)) {
      this.#begin(sender, out);
      this.#add(sender, order, out, take);
    }
    if (this.#heldBytes > this.#maxHeldBytes) this.#release(sender, order, out);
  }

  /** Nothing of it waits any more. */
  #release(sender: Sender, order: StreamOrder, out: ReceivedPacket[]): void {
    this.#add(sender, order, out, (events) => {
      order.release(events);
    });
  }

  #add<T>(
    { name, epoch }: Sender,
    order: StreamOrder,
    out: ReceivedPacket[],
    step: (events: EventPacket[]) => T,
  ): T {
    const events: EventPacket[] = [];
    const before = order.heldBytes;
    const result = step(events);
    this.#heldBytes += order.heldBytes - before;
    for (const packet of events) out.push({ sender: name, packet, epoch });
    return result;
  }
}
