// Broken meaning out of good Heph files: every packet is as the format says, and says something else.
// Types, counts, order and fields of attributes, of the reserved ones above all.

import { internal } from '../../scripts/package-layout.mjs';

const {
  EVENT_MAGIC,
  SIZE_OFFSET,
  DESCRIPTION_OFFSET,
  TYPE_ARRAY,
  TYPE_F64,
  TYPE_I64,
  TYPE_STRING,
  TYPE_U64,
} = internal('heph/layout');

const SINGLE = [TYPE_U64, TYPE_I64, TYPE_F64, TYPE_STRING];
const WORDS = [0n, 1n, 2n ** 31n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];
const DOUBLES = [0.5, -1, NaN, Infinity, -Infinity, 1e300, -0, 2 ** 60];
const TEXTS = ['', '1', '-', 'x'.repeat(300), '\u0000', '99999999999999999999999'];
const NAMES = '~t ~s ~p ~f ~m ~w ~b ~e ~a ~n ~k ~c ~r ~u ~? ~0 ~# ~[ ~+ ~E ~d ~L ~l ~v ~Z ~z'
  .split(' ')
  .concat('realtime', 'monotonic', 'process.pid', 'service.name', 'busy', '', '~');
const DESCRIPTIONS = [
  'tracewright.resource',
  'tracewright.scope',
  'tracewright.clock',
  'tracewright.loop',
  '',
];
const DEFINITIONS = 0xffff_ffff;

function textOf(value) {
  const text = Buffer.from(value, 'latin1');
  const length = Buffer.alloc(2);
  length.writeUInt16BE(text.length);
  return Buffer.concat([length, text]);
}

function wordOf(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt.asUintN(64, value));
  return bytes;
}

function doubleOf(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}

/** Bytes of a value after its type, from `at` on. */
function valueBytes(bytes, type, at) {
  const one = (from) => ((type & ~TYPE_ARRAY) === TYPE_STRING ? 2 + bytes.readUInt16BE(from) : 8);
  if ((type & TYPE_ARRAY) === 0) return one(at);
  let end = at + 2;
  for (let left = bytes.readUInt16BE(at); left > 0; left--) end += one(end);
  return end - at;
}

/** An event as its head, its description and its attributes; any other packet as it is. */
function taken(packet) {
  if (packet.readUInt32BE(0) !== EVENT_MAGIC) return { packet };
  const head = Buffer.from(packet.subarray(0, DESCRIPTION_OFFSET));
  let at = DESCRIPTION_OFFSET + 2 + packet.readUInt16BE(DESCRIPTION_OFFSET);
  const description = packet.toString('latin1', DESCRIPTION_OFFSET + 2, at);
  const attributes = [];
  while (at < packet.length) {
    const from = at + 2;
    const to = from + packet.readUInt16BE(at);
    const type = packet[to];
    at = to + 1 + valueBytes(packet, type, to + 1);
    attributes.push({
      name: packet.toString('latin1', from, to),
      type,
      value: Buffer.from(packet.subarray(to + 1, at)),
    });
  }
  return { head, description, attributes };
}

function put({ packet, head, description, attributes }) {
  if (packet !== undefined) return packet;
  const bytes = Buffer.concat([
    head,
    textOf(description),
    ...attributes.flatMap(({ name, type, value }) => [textOf(name), Buffer.of(type), value]),
  ]);
  bytes.writeUInt32BE(bytes.length, SIZE_OFFSET);
  return bytes;
}

function packetsOf(bytes) {
  const packets = [];
  for (let at = 0; at < bytes.length;) {
    const size = bytes.readUInt32BE(at + SIZE_OFFSET);
    packets.push(taken(bytes.subarray(at, at + size)));
    at += size;
  }
  return packets;
}

function anyValue(type, random) {
  if (type === TYPE_STRING) return textOf(random.pick(TEXTS));
  return type === TYPE_F64 ? doubleOf(random.pick(DOUBLES)) : wordOf(random.pick(WORDS));
}

function anyAttribute(random) {
  const type = random.pick(SINGLE);
  return { name: random.pick(NAMES), type, value: anyValue(type, random) };
}

const ofEvent = [
  /** The same bytes with another type: what one byte of a disk does. */
  function changeType({ attributes }, random) {
    const attribute = random.pick(attributes);
    if (attribute.value.length === 8) attribute.type = random.pick([TYPE_U64, TYPE_I64, TYPE_F64]);
  },
  function changeValue({ attributes }, random) {
    const attribute = random.pick(attributes);
    attribute.type = random.pick(SINGLE);
    attribute.value = anyValue(attribute.type, random);
  },
  function makeArray({ attributes }, random) {
    const attribute = random.pick(attributes);
    const type = random.pick(SINGLE);
    const count = random.integer(0, 3);
    const elements = Array.from({ length: count }, () => anyValue(type, random));
    attribute.type = TYPE_ARRAY | type;
    attribute.value = Buffer.concat([Buffer.of(0, count), ...elements]);
  },
  function rename({ attributes }, random) {
    random.pick(attributes).name = random.pick(NAMES);
  },
  function remove({ attributes }, random) {
    attributes.splice(random.integer(0, attributes.length - 1), 1);
  },
  function repeat({ attributes }, random) {
    const copy = { ...random.pick(attributes) };
    attributes.splice(random.integer(0, attributes.length), 0, copy);
  },
  function move({ attributes }, random) {
    const [moved] = attributes.splice(random.integer(0, attributes.length - 1), 1);
    attributes.splice(random.integer(0, attributes.length), 0, moved);
  },
  function insert({ attributes }, random) {
    attributes.splice(random.integer(0, attributes.length), 0, anyAttribute(random));
  },
  function describe(event, random) {
    event.description = random.pick(DESCRIPTIONS);
  },
  function changeHead({ head }, random) {
    const at = random.pick([8, 12, 16, 24, 32]);
    if (at < 16) head.writeUInt32BE(random.pick([0, 1, DEFINITIONS]), at);
    else wordOf(random.pick(WORDS)).copy(head, at);
  },
];

const ofFile = [
  function swap(packets, random) {
    const [one, other] = [0, 1].map(() => random.integer(0, packets.length - 1));
    [packets[one], packets[other]] = [packets[other], packets[one]];
  },
  function drop(packets, random) {
    packets.splice(random.integer(0, packets.length - 1), 1);
  },
  function repeat(packets, random) {
    const copy = taken(put(random.pick(packets)));
    packets.splice(random.integer(0, packets.length), 0, copy);
  },
];

/** @type {typeof import('./mutate.mjs').mutate} */
export function mutateMeaning(good, random) {
  const packets = packetsOf(random.pick(good));
  for (let i = random.integer(1, 4); i > 0; i--) {
    if (random.chance(0.15) && packets.length > 1) {
      random.pick(ofFile)(packets, random);
      continue;
    }
    // Definitions and clock records are few, and all spans depend on them.
    const events = packets.filter(({ attributes }) => attributes?.length > 0);
    const ours = events.filter(({ description }) => description.startsWith('tracewright.'));
    const chosen = random.chance(0.5) && ours.length > 0 ? ours : events;
    if (chosen.length > 0) random.pick(ofEvent)(random.pick(chosen), random);
  }
  return Buffer.concat(packets.map(put));
}
