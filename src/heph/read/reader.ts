import { integerIn, limitFrom, ofType, ownOptions } from '../../core/options/argument.js';
import type { TraceFormatError } from '../../core/errors.js';
import type { Progress } from '../../core/finding.js';
import { takeBytes } from '../../core/taken-elements.js';
import { DEFAULT_MAX_PACKET_BYTES, PACKET_HEAD_BYTES } from '../layout.js';
import type { Packet } from '../packet.js';
import { PacketCursor } from './packet-cursor.js';
import { PacketDecoding } from './packet-decoding.js';

/** A decoder's buffer that grew beyond this for one packet is given back after it. */
const KEPT_BYTES = 1 << 20;

/** Options of the readers. */
export interface ReadOptions {
  /** Largest packet in bytes that is read: 64 MiB unless set, 4,294,967,295 at most. */
  maxPacketBytes?: number;
  /** Called now and then with the bytes done and the bytes in all. */
  onProgress?: Progress | undefined;
}

/**
 * Reads a Heph trace file from front to back, in memory that does not grow with the file.
 *
 * @throws TraceFormatError at the first packet that is not as the format (0.1.0) says, with its
 *   offset and the field; the packets before it have been yielded. TracewrightError `ERR_SYSTEM`
 *   when the file cannot be read.
 */
export function* readPackets(path: string, options: ReadOptions = {}): Generator<Packet, void> {
  options = ownOptions(options, ['maxPacketBytes', 'onProgress']);
  const cursor = new PacketCursor(path, options);
  try {
    while (cursor.next()) yield cursor.packet();
  } finally {
    cursor.close();
  }
}

/**
 * Decodes the packet that begins at `offset` in `bytes`. A datagram holds one or more whole
 * packets: the next one begins at `packet.offset + packet.size`.
 *
 * @param source Names the datagram in errors.
 * @throws TraceFormatError when there is no whole, valid packet; its offset counts from the start
 *   of `bytes`.
 */
export function decodePacket(bytes: Uint8Array, offset = 0, source = 'packet'): Packet {
  const taken = takeBytes('bytes', bytes);
  integerIn('offset', offset, 0, taken.length);
  const decoding = new PacketDecoding(ofType('source', source, 'string'), 0xffff_ffff);
  decoding.setBytes(taken, 0);
  const left = taken.length - offset;
  if (left < PACKET_HEAD_BYTES) throw decoding.headCut(offset, left);
  return decoding.decode(offset, decoding.size(offset, left));
}

/**
 * Decodes packets out of a byte stream that arrives in pieces, such as a TCP connection. What it
 * keeps between two pieces is less than one packet.
 */
export class PacketDecoder {
  readonly #decoding: PacketDecoding;
  #held: Buffer = Buffer.alloc(0);
  #heldBytes = 0;
  /** Bytes of the packet at the front of what is held; 0 until its head is there. */
  #wanted = 0;
  #offset = 0;
  #fault: TraceFormatError | undefined;

  /**
   * @param source Names the connection in errors.
   * @param options.maxPacketBytes Larger packets are refused. Default: 64 MiB.
   */
  constructor(source = 'stream', options: { maxPacketBytes?: number } = {}) {
    const { maxPacketBytes = DEFAULT_MAX_PACKET_BYTES } = ownOptions(options, ['maxPacketBytes']);
    const most = limitFrom('maxPacketBytes', maxPacketBytes, 1);
    this.#decoding = new PacketDecoding(ofType('source', source, 'string'), most);
  }

  /** Bytes held of a packet that is not whole yet. */
  get pendingBytes(): number {
    return this.#heldBytes;
  }

  /**
   * Takes the next piece and returns the packets that it completes; the piece is not kept.
   *
   * @throws TraceFormatError when what follows is no packet. Packets before the fault are
   *   returned first: the call that finds it returns them, and the next call (of `push` or `end`)
   *   throws. After that the decoder stays at the fault.
   */
  push(chunk: Uint8Array): Packet[] {
    if (this.#fault) throw this.#fault;
    const packets: Packet[] = [];
    let rest: Uint8Array = takeBytes('chunk', chunk);
    try {
      while (this.#heldBytes > 0 && rest.length > 0) rest = this.#completeHeld(rest, packets);
      if (this.#heldBytes === 0) this.#takeWhole(rest, packets);
    } catch (error) {
      this.#fault = error as TraceFormatError;
      if (packets.length === 0) throw error;
    }
    return packets;
  }

  /**
   * Says that the stream has ended.
   *
   * @throws TraceFormatError when it ended inside a packet.
   */
  end(): void {
    if (this.#fault) throw this.#fault;
    if (this.#heldBytes === 0) return;
    this.#decoding.setBytes(this.#held.subarray(0, this.#heldBytes), this.#offset);
    if (this.#heldBytes < PACKET_HEAD_BYTES) throw this.#decoding.headCut(0, this.#heldBytes);
    this.#decoding.size(0, this.#heldBytes);
  }

  /** Decodes every whole packet of `bytes` and keeps a copy of the rest. */
  #takeWhole(bytes: Uint8Array, packets: Packet[]): void {
    const decoding = this.#decoding;
    decoding.setBytes(bytes, this.#offset);
    let at = 0;
    while (bytes.length - at >= PACKET_HEAD_BYTES) {
      const size = decoding.size(at);
      if (size > bytes.length - at) {
        this.#wanted = size;
        break;
      }
      packets.push(decoding.decode(at, size));
      at += size;
    }
    this.#offset += at;
    this.#hold(bytes.subarray(at));
  }

  /** Adds bytes to the packet that is held until it is whole; returns what follows it. */
  #completeHeld(chunk: Uint8Array, packets: Packet[]): Uint8Array {
    const wanted = this.#wanted === 0 ? PACKET_HEAD_BYTES : this.#wanted;
    const rest = chunk.subarray(wanted - this.#heldBytes);
    this.#hold(chunk.subarray(0, wanted - this.#heldBytes));
    if (this.#heldBytes < wanted) return rest;
    this.#decoding.setBytes(this.#held, this.#offset);
    if (this.#wanted === 0) {
      this.#wanted = this.#decoding.size(0);
      return rest;
    }
    packets.push(this.#decoding.decode(0, this.#wanted));
    this.#offset += this.#wanted;
    this.#heldBytes = 0;
    this.#wanted = 0;
    if (this.#held.length > KEPT_BYTES) this.#held = Buffer.alloc(0);
    return rest;
  }

  #hold(bytes: Uint8Array): void {
    const needed = this.#heldBytes + bytes.length;
    if (needed > this.#held.length) {
      // Doubling keeps a large packet in small pieces linear, without trusting its size field.
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#held.length * 2, 256));
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    this.#held.set(bytes, this.#heldBytes);
    this.#heldBytes = needed;
  }
}

/**
 * The trace's epoch, the moment that its times count from, in nanoseconds since the Unix epoch:
 * the first one that the file sets (option `epoch`), undefined when it sets none. It is usually
 * in the first packet. A file without one is read to its end.
 *
 * @throws TraceFormatError if a packet before it is invalid.
 */
export function readEpoch(path: string): bigint | undefined {
  const cursor = new PacketCursor(path);
  try {
    while (cursor.next()) {
      if (cursor.isEvent) continue;
      const packet = cursor.packet();
      if (packet.kind === 'metadata' && packet.epoch !== undefined) return packet.epoch;
    }
    return undefined;
  } finally {
    cursor.close();
  }
}
