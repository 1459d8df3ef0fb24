/** What an ExportTraceServiceResponse says of spans that were refused; undefined: it has none, or is no such message. */
export function partialSuccess(body: Buffer): { count: number; reason: string } | undefined {
  const message = fieldsOf(body)?.find(({ field }) => field === 1)?.bytes;
  const fields = message && fieldsOf(message);
  if (fields === undefined) return undefined;
  const count = fields.find(({ field }) => field === 1)?.value ?? 0;
  const reason = fields.find(({ field }) => field === 2)?.bytes?.toString('utf8') ?? '';
  return count === 0 ? undefined : { count, reason: reason === '' ? 'no reason given' : reason };
}

interface Field {
  field: number;
  value?: number;
  bytes?: Buffer;
}

/** The fields of a protobuf message; undefined: it is none. */
function fieldsOf(bytes: Buffer): Field[] | undefined {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let scale = 1; at < bytes.length; scale *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    return NaN;
  };
  while (at < bytes.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    switch (tag % 8) {
      case 0:
        fields.push({ field, value: varint() });
        break;
      case 1:
        at += 8;
        break;
      case 2: {
        const length = varint();
        if (!(length <= bytes.length - at)) return undefined;
        fields.push({ field, bytes: bytes.subarray(at, at + length) });
        at += length;
        break;
      }
      case 5:
        at += 4;
        break;
      default:
        return undefined;
    }
  }
  return fields;
}
