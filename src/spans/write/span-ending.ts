import { compile, mayCompile } from '../../core/ring/compile.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import { writeUtf8 } from '../../core/utf8.js';
import { DESCRIPTION_OFFSET, PACKET_HEAD_BYTES, TYPE_STRING, TYPE_U64 } from '../../heph/layout.js';
import { constantStores, packetStores, prefixed } from '../../heph/write/event-text.js';
import { writeText } from '../../heph/write/encoder.js';
import { FLAGS_AFTER_NAME, RESOURCE_SHIFT } from '../layout.js';
import type { Span } from '../span.js';
import type { ShapedSpans } from './span-shapes.js';

/** Characters of a text: with a name of any slot, at most what a name can have. */
const MAX_TEXT = 1024;

/**
 * Records a span that has ended, of which the place has everything else; false: it has to be encoded anew.
 *
 * @param number from 0 to 2^32 - 1.
 * @param text empty: there is none.
 * @param isNamed whether the name of the span gets a space and the text at its end.
 */
export type EndWriter = (
  span: Span,
  at: number,
  number: number,
  text: string,
  isNamed: boolean,
) => boolean;

/** The attributes that spans get at their end: a number, and perhaps a text. */
export class SpanEnding {
  readonly #numberName: string;
  readonly #textName: string;
  #writer: EndWriter | undefined;
  #table: OpenRecords | undefined;

  constructor(numberName: string, textName: string) {
    this.#numberName = numberName;
    this.#textName = textName;
  }

  /** Whether none of the names is that of one of these attributes. */
  isNew(names: readonly string[]): boolean {
    return !names.includes(this.#numberName) && !names.includes(this.#textName);
  }

  /** What ends the spans of a thread; undefined: it cannot be compiled. */
  writerFor(output: ShapedSpans, table: OpenRecords): EndWriter | undefined {
    if (this.#table !== table) {
      this.#table = table;
      const isPossible = mayCompile() && output.stream.ring.takesEdited;
      this.#writer = isPossible ? this.#compile(output, table) : undefined;
    }
    return this.#writer;
  }

  #compile(output: ShapedSpans, table: OpenRecords): EndWriter {
    const { ring, trace } = output.stream;
    const number = Buffer.concat([prefixed(this.#numberName), Buffer.of(TYPE_U64, 0, 0, 0, 0)]);
    const text = Buffer.concat([prefixed(this.#textName), Buffer.of(TYPE_STRING)]);
    const scope = {
      output,
      ring,
      table,
      view: ring.view,
      bytes: ring.bytes,
      placeView: table.view,
      placeBytes: table.bytes,
      writeText,
      writeUtf8,
    };
    const numberBytes = number.length + 4;
    // Six bytes a character: three as an attribute, three in the name.
    const body = `return function endInPlace(span, at, number, text, isNamed) {
  const length = span.heldBytes;
  const most = length + ${numberBytes + text.length + 3} + 6 * text.length;
  if (most > ${Math.min(ring.longestRecord, trace.packetLimit)} || text.length > ${MAX_TEXT}) return false;
  if (ring.free < most && !ring.makeRoom(most)) {
    // Dropped, and counted. The numbers show it too.
    output.stream.counter[0]++;
    table.release(at);
    return true;
  }
  const start = ring.position & ${ring.capacity - 1};
  const nameEnd = ${DESCRIPTION_OFFSET + 2} + placeView.getUint16(at + ${DESCRIPTION_OFFSET});
  let flagsAt = nameEnd + ${FLAGS_AFTER_NAME};
  let to = start + length;
  if (isNamed) {
    for (let i = ${DESCRIPTION_OFFSET + 2}; i < nameEnd; i++) bytes[start + i] = placeBytes[at + i];
    bytes[start + nameEnd] = 0x20;
    const textBytes = writeUtf8(bytes, start + nameEnd + 1, text);
    const newEnd = nameEnd + 1 + textBytes;
    view.setInt16(start + ${DESCRIPTION_OFFSET}, newEnd - ${DESCRIPTION_OFFSET + 2});
    table.keep(${PACKET_HEAD_BYTES}, ${DESCRIPTION_OFFSET}, nameEnd, newEnd, length - nameEnd);
    flagsAt = newEnd + ${FLAGS_AFTER_NAME};
    to = start + newEnd + length - nameEnd;
  } else {
    table.keep(${PACKET_HEAD_BYTES}, length, 0, 0, 0);
  }
  ${constantStores(number, 'to').join('\n  ')}
  view.setInt32(to + ${number.length}, number | 0);
  to += ${numberBytes};
  if (text !== '') {
    ${constantStores(text, 'to').join('\n    ')}
    to = writeText(view, bytes, to + ${text.length}, text);
  }
  ${packetStores('to - start')}
  ring.commitEdited(at, to - start, flagsAt, span.flags | (output.resource << ${RESOURCE_SHIFT}));
  return true;
};`;
    return compile('end of a span', scope, body) as EndWriter;
  }
}
