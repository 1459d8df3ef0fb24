import { PacketCursor } from './packet-cursor.js';

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
