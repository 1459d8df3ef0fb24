import { attributesAt, isDescribed, START_OFFSET } from '../../heph/layout.js';
import { COLLECTIONS_DESCRIPTION, COLLECTIONS_LIST, REAL_START } from '../layout.js';
import { AttributeValues } from './attribute-values.js';

/** A garbage collection that is no span. Nanoseconds since the trace's epoch. */
interface ListedCollection {
  name: string;
  start: bigint;
  duration: bigint;
}

const EACH = /^(\d{1,18}):(\d{1,18}):(\w{1,20})$/;

const NAME = Buffer.from(COLLECTIONS_DESCRIPTION);

const attributes = new AttributeValues();

/** The collections that an event lists; none of most events. What is not as the contract says is left out. */
export function collectionsIn(
  bytes: Uint8Array,
  view: DataView,
  at: number,
  end: number,
): ListedCollection[] {
  if (!isDescribed(bytes, view, at, end, NAME)) return [];
  const own = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let from = view.getBigUint64(at + START_OFFSET);
  let list = '';
  try {
    attributes.set(own, view, attributesAt(view, at), end);
    while (attributes.next()) {
      if (attributes.code === 0 && attributes.name === COLLECTIONS_LIST) list = attributes.text();
      else if (attributes.code === REAL_START.charCodeAt(1)) from = attributes.integer();
      else attributes.value();
    }
  } catch {
    return [];
  }
  return list.split(',').flatMap((text) => {
    const [, start, duration, type] = EACH.exec(text) ?? [];
    if (start === undefined || duration === undefined) return [];
    return { name: `gc ${type}`, start: from + BigInt(start), duration: BigInt(duration) };
  });
}
