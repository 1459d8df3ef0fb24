// Broken inputs out of good ones.

const INTERESTING = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff];

/** @type {((bytes: Buffer, random: import('../random.mjs').Random, others: Buffer[]) => Buffer)[]} */
const mutations = [
  function flipBits(bytes, random) {
    for (let i = random.integer(1, 8); i > 0; i--) {
      bytes[random.integer(0, bytes.length - 1)] ^= 1 << random.integer(0, 7);
    }
    return bytes;
  },
  function setNumber(bytes, random) {
    const width = random.pick([1, 2, 4, 4, 8]);
    if (bytes.length < width) return bytes;
    const at = random.integer(0, bytes.length - width);
    const value = random.pick(INTERESTING);
    const little = random.chance(0.5);
    bytes.fill(0, at, at + width);
    if (width >= 4) {
      if (little) bytes.writeUInt32LE(value, at);
      else bytes.writeUInt32BE(value, at + width - 4);
    } else {
      bytes[little ? at : at + width - 1] = value & 0xff;
    }
    return bytes;
  },
  function truncate(bytes, random) {
    return bytes.subarray(0, random.integer(0, bytes.length - 1));
  },
  function splice(bytes, random, others) {
    const other = random.pick(others);
    const from = random.integer(0, other.length - 1);
    return Buffer.concat([
      bytes.subarray(0, random.integer(0, bytes.length)),
      other.subarray(from, random.integer(from, other.length)),
      bytes.subarray(random.integer(0, bytes.length)),
    ]);
  },
  function remove(bytes, random) {
    const from = random.integer(0, bytes.length - 1);
    const to = Math.min(bytes.length, from + random.integer(1, 64));
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  },
  function randomBytes(bytes, random) {
    const from = random.integer(0, bytes.length - 1);
    const to = Math.min(bytes.length, from + random.integer(1, 32));
    for (let at = from; at < to; at++) bytes[at] = random.integer(0, 255);
    return bytes;
  },
];

/**
 * A broken input: one of the good ones, changed one to three times.
 *
 * @param {Buffer[]} good
 * @param {import('../random.mjs').Random} random
 */
export function mutate(good, random) {
  let bytes = Buffer.from(random.pick(good));
  for (let i = random.integer(1, 3); i > 0 && bytes.length > 0; i--) {
    bytes = Buffer.from(random.pick(mutations)(bytes, random, good));
  }
  return bytes;
}
