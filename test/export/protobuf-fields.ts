/** A slow decoder of protobuf messages by the numbers of their fields, for tests to hold exports against. */

/** A field: a varint or fixed64 as a bigint, a fixed32 as a number, anything else as its bytes. */
export type FieldValue = bigint | number | Uint8Array;

/** The values of a message by field number, in their order. */
export type Fields = Map<number, FieldValue[]>;

/** A varint of few bytes, such as a tag or a length mostly is: several times quicker than a bigint. */
function shortVarintAt(bytes: Uint8Array, from: number): { value: number; next: number } {
  let value = 0;
  for (let at = from; at < from + 4; at++) {
    const byte = bytes[at];
    if (byte === undefined) throw new Error(`no varint at ${from}`);
    value |= (byte & 0x7f) << (7 * (at - from));
    if (byte < 0x80) return { value, next: at + 1 };
  }
  const long = varintAt(bytes, from);
  return { value: Number(long.value), next: long.next };
}

function varintAt(bytes: Uint8Array, from: number): { value: bigint; next: number } {
  let value = 0n;
  let at = from;
  for (let shift = 0n; ; shift += 7n) {
    const byte = bytes[at++];
    if (byte === undefined || shift > 63n) throw new Error(`no varint at ${from}`);
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), next: at };
  }
}

/** Decodes a message; throws if a byte of it belongs to no field. */
export function decodeFields(bytes: Uint8Array): Fields {
  const fields: Fields = new Map();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  while (at < bytes.length) {
    const { value: tag, next } = shortVarintAt(bytes, at);
    const field = Math.floor(tag / 8);
    let value: FieldValue;
    switch (tag % 8) {
      case 0:
        ({ value, next: at } = varintAt(bytes, next));
        break;
      case 1:
        value = view.getBigUint64(next, true);
        at = next + 8;
        break;
      case 2: {
        const length = shortVarintAt(bytes, next);
        at = length.next + length.value;
        if (at > bytes.length) throw new Error(`field ${field} is longer than its message`);
        value = bytes.subarray(length.next, at);
        break;
      }
      case 5:
        value = view.getUint32(next, true);
        at = next + 4;
        break;
      default:
        throw new Error(`field ${field} has wire type ${tag % 8}`);
    }
    const values = fields.get(field);
    if (values === undefined) fields.set(field, [value]);
    else values.push(value);
  }
  return fields;
}

/** The only value of an integer field; undefined if it is absent. */
export function integer(fields: Fields, field: number): bigint | undefined {
  const value = fields.get(field)?.[0];
  if (value === undefined) return undefined;
  if (value instanceof Uint8Array) throw new Error(`field ${field} is no integer`);
  return BigInt(value);
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The only value of a text field; undefined if it is absent. */
export function text(fields: Fields, field: number): string | undefined {
  const value = fields.get(field)?.[0];
  if (value === undefined) return undefined;
  if (!(value instanceof Uint8Array)) throw new Error(`field ${field} is no text`);
  return decoder.decode(value);
}

/** The messages of a field. */
export function messages(fields: Fields, field: number): Fields[] {
  return (fields.get(field) ?? []).map((value) => {
    if (!(value instanceof Uint8Array)) throw new Error(`field ${field} is no message`);
    return decodeFields(value);
  });
}

/** A double that was read as the 64 bits of a fixed64 field. */
export function double(fields: Fields, field: number): number | undefined {
  const bits = integer(fields, field);
  if (bits === undefined) return undefined;
  return new Float64Array(BigUint64Array.of(bits).buffer)[0];
}
