import { PacketCursor } from './packet-cursor.js';

/**
 * The trace's epoch, the moment that its times count from, in nanoseconds since the Unix epoch:
 * the first one that the file sets (option `epoch`), undefined when it sets none. It usually
 * stands in the first packet; a file without one is stepped through to its end.
 *
 * @throws TraceFormatError when a packet in front of it is no packet.
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
