import { compile, mayCompile } from '../../core/ring/compile.js';
import { commitSlot, isAsPublished, keepBytes } from '../../core/ring/compiled-slots.js';
import type { OpenRecords } from '../../core/ring/open-records.js';
import { writeUtf8 } from '../../core/utf8.js';
import { DESCRIPTION_OFFSET, PACKET_HEAD_BYTES } from '../../heph/layout.js';
import { attributeHead, constantStores, packetStores } from '../../heph/write/event-text.js';
import { FLAGS_AFTER_NAME, OWN_FLAGS, RESOURCE_SHIFT } from '../layout.js';
import type { Span } from '../span.js';
import type { ShapedSpans } from './span-shapes.js';

/** Characters of a text: with a name of any slot, at most what a name can have. */
const MAX_TEXT = 1024;
const NAME_TEXT = DESCRIPTION_OFFSET + 2;
const FLAGS = `(span.flags & ${OWN_FLAGS}) | (output.resource << ${RESOURCE_SHIFT})`;

/** Records a span of which everything is in its slot, and for which the ring has room. The slot is free then. */
export type SlotCommit = (span: Span, at: number) => void;

/**
 * Records a span that has ended, of which the slot has everything else; false: it has to be encoded anew.
 *
 * @param number from 0 to 2^32 - 1.
 * @param text empty: there is none.
 * @param isNamed whether the name of the span gets a space and the text at its end.
 */
type EndWriter = (
  span: Span,
  at: number,
  number: number,
  text: string,
  isNamed: boolean,
) => boolean;

/** What the ends of spans are compiled with. */
function endScope(output: ShapedSpans, table: OpenRecords): Record<string, unknown> {
  const { ring } = output.stream;
  const { bytes, pending, publishEdited, publishOpen, view } = ring;
  return {
    ...table.constants,
    output,
    ring,
    bytes,
    view,
    pending,
    publishEdited,
    publishOpen,
    slotBytes: table.bytes,
    slotView: table.view,
    writeUtf8,
  };
}

/**
 * Statements: declare where a record begins in the ring, and where the name of that at `at` ends. V8's middle compiler
 * makes a call of each unsigned number that is read.
 */
function locate({ stream: { ring } }: ShapedSpans): string {
  return `const start = ring.position & ${ring.capacity - 1};
  const nameEnd = ${NAME_TEXT} + (slotView.getInt16(at + ${DESCRIPTION_OFFSET}) & 0xffff);`;
}

/** Statements: record the span of which the slot at `at` has everything, `length` bytes, and free the slot. */
export function commitText(output: ShapedSpans): string {
  return `${locate(output)}
  const isAsBegun = ${isAsPublished('at', 'length')};
  if (!isAsBegun) {
    ${packetStores('length')}
    ${keepBytes(PACKET_HEAD_BYTES, 'length')}
  }
  ${commitSlot(
    output.stream.ring,
    'at',
    'length',
    `nameEnd + ${FLAGS_AFTER_NAME}`,
    FLAGS,
    'if (isAsBegun) publishOpen();\n  else publishEdited();',
  )}`;
}

/** Compiles the end of a thread's spans that change no more once they are in their slots. */
export function compileCommit(output: ShapedSpans, table: OpenRecords): SlotCommit {
  const body = `return function commitSlot(span, at) {
  const length = span.heldBytes;
  ${commitText(output)}
};`;
  return compile('end of a span', endScope(output, table), body) as SlotCommit;
}

/** The attributes that spans get at their end: a number, and perhaps a text. */
export class SpanEnding {
  readonly numberName: string;
  readonly textName: string;
  /** What ends the spans of `output`; undefined: it cannot be compiled. */
  writer: EndWriter | undefined;
  output: ShapedSpans | undefined;

  constructor(numberName: string, textName: string) {
    this.numberName = numberName;
    this.textName = textName;
  }

  compile(output: ShapedSpans, table: OpenRecords): void {
    const { ring, trace } = output.stream;
    this.output = output;
    this.writer = undefined;
    if (!mayCompile() || !ring.takesEdited) return;
    const number = Buffer.concat([attributeHead(this.numberName, 'u64'), Buffer.alloc(4)]);
    const text = attributeHead(this.textName, 'string');
    const numberBytes = number.length + 4;
    // Six bytes a character: three as an attribute, three in the name.
    const body = `return function endOfSlot(span, at, number, text, isNamed) {
  const length = span.heldBytes;
  const most = length + ${numberBytes + text.length + 3} + 6 * text.length;
  if (most > ${Math.min(ring.longestRecord, trace.packetLimit)} || text.length > ${MAX_TEXT}) return false;
  if (ring.free < most && !ring.makeRoom(most)) {
    // Dropped, and counted. The numbers show it too.
    output.stream.counter[0]++;
    release(at);
    return true;
  }
  ${locate(output)}
  let flagsAt = nameEnd + ${FLAGS_AFTER_NAME};
  let to = start + length;
  if (isNamed) {
    for (let i = ${NAME_TEXT}; i < nameEnd; i++) bytes[start + i] = slotBytes[at + i];
    bytes[start + nameEnd] = 0x20;
    const textBytes = writeUtf8(bytes, start + nameEnd + 1, text);
    const newEnd = nameEnd + 1 + textBytes;
    view.setInt16(start + ${DESCRIPTION_OFFSET}, newEnd - ${NAME_TEXT});
    ${keepBytes(PACKET_HEAD_BYTES, DESCRIPTION_OFFSET, ['nameEnd', 'newEnd', 'length - nameEnd'])}
    flagsAt = newEnd + ${FLAGS_AFTER_NAME};
    to = start + newEnd + length - nameEnd;
  } else {
    ${keepBytes(PACKET_HEAD_BYTES, 'length')}
  }
  ${constantStores(number, 'to').join('\n  ')}
  view.setInt32(to + ${number.length}, number | 0);
  to += ${numberBytes};
  if (text !== '') {
    ${constantStores(text, 'to').join('\n    ')}
    const textBytes = writeUtf8(bytes, to + ${text.length + 2}, text);
    view.setInt16(to + ${text.length}, textBytes);
    to += ${text.length + 2} + textBytes;
  }
  const size = to - start;
  ${packetStores('size')}
  ${commitSlot(ring, 'at', 'size', 'flagsAt', FLAGS, 'publishEdited();')}
  return true;
};`;
    const release = (at: number): void => {
      table.release(at);
    };
    const scope = { ...endScope(output, table), release };
    this.writer = compile('end of a span', scope, body) as EndWriter;
  }
}
