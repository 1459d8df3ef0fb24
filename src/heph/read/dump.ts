import { quotedText } from '../../core/readable-text.js';
import { jsonInteger, jsonValue, numberText } from '../../core/json.js';
import type { JsonObject } from '../../core/json.js';
import { wallClock } from '../../core/wall-clock.js';
import type { Attribute, EventPacket, Packet } from '../packet.js';

/**
 * One readable line for a packet, without the line's end. Text is in quotes, with control
 * characters escaped, so that a hostile trace cannot steer a terminal.
 */
export function dumpLine(packet: Packet): string {
  if (packet.kind === 'metadata') {
    const value =
      packet.epoch === undefined
        ? `0x${Buffer.from(packet.value).toString('hex')}`
        : `${packet.epoch.toString()} ns (${wallClock(packet.epoch)})`;
    return `metadata ${quotedText(packet.name)} = ${value}`;
  }
  return headOf(packet) + packet.attributes.map(attributeOf).join('');
}

function headOf({ stream, substream, counter, start, end, description }: EventPacket): string {
  return (
    `event stream ${stream} substream ${substream.toString()} #${counter} ` +
    `${start.toString()}..${end.toString()} ns (${(end - start).toString()} ns) ` +
    quotedText(description)
  );
}

function attributeOf({ name, type, value }: Attribute): string {
  return ` ${quotedText(name)}:${type}=${shownValue(value)}`;
}

/** The line of an event in pieces, an attribute each: the whole of a large one takes many times its memory. */
export function* dumpPieces(
  event: EventPacket,
  attributes: Iterable<Attribute>,
  json: boolean,
): Generator<string, void> {
  if (!json) {
    yield headOf(event);
    for (const attribute of attributes) yield attributeOf(attribute);
    return;
  }
  // They are the last field.
  yield JSON.stringify(dumpObject(event)).slice(0, -']}'.length);
  let separator = '';
  for (const attribute of attributes) {
    yield separator + JSON.stringify(jsonValue(attribute));
    separator = ',';
  }
  yield ']}';
}

/**
 * The packet as an object for `JSON.stringify`. Integers of 64 bits are numbers up to 2^53 - 1 and
 * decimal strings beyond; NaN, the infinities and -0 are strings; bytes are hexadecimal.
 */
export function dumpObject(packet: Packet): JsonObject {
  if (packet.kind === 'event') return jsonValue(packet) as JsonObject;
  const { kind, offset, size, name, epoch, value } = packet;
  const shown = epoch === undefined ? Buffer.from(value).toString('hex') : jsonInteger(epoch);
  return { kind, offset, size, name, value: shown };
}

function shownValue(value: Attribute['value']): string {
  if (Array.isArray(value)) return `[${value.map(shownValue).join(', ')}]`;
  if (typeof value === 'number') return numberText(value);
  return typeof value === 'string' ? quotedText(value) : String(value);
}
