/**
 * Statements that store constant bytes at `base`, four at a time. The bytes of signed and unsigned numbers are the same,
 * but V8's middle compiler makes a call of each store of an unsigned one, which takes six times as long.
 */
export function constantStores(bytes: Buffer, base: string): string[] {
  const stores: string[] = [];
  let at = 0;
  for (; at + 4 <= bytes.length; at += 4) {
    stores.push(`view.setInt32(${base} + ${at}, ${bytes.readInt32BE(at)});`);
  }
  if (at + 2 <= bytes.length) {
    stores.push(`view.setInt16(${base} + ${at}, ${bytes.readInt16BE(at)});`);
    at += 2;
  }
  if (at < bytes.length) stores.push(`view.setInt8(${base} + ${at}, ${bytes.readInt8(at)});`);
  return stores;
}

/** A text as events contain it: u16 bytes of UTF-8, then those. */
export function prefixed(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}
