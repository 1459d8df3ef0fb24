import { buildEmitter } from '../../core/ring/emitter-builder.js';
import { isArray } from '../../core/taken-elements.js';
import { bufferOf, classNameOf, lengthOf } from '../../core/typed-array.js';
import { ENCODED_BYTES } from '../calls.js';
import type { Call, Field, Status } from '../calls.js';
import {
  COUNT_BYTES,
  STATUS_BYTES_OFFSET,
  STATUS_CANCELLED_OFFSET,
  STATUS_ERROR_OFFSET,
  STATUS_RECORD_BYTES,
  STATUS_SOURCE_OFFSET,
  STATUS_TAG_OFFSET,
} from '../layout.js';
import { plainEncoder, successField } from './plain-encoder.js';
import type { CallEncoder } from './plain-encoder.js';
import type { CallStream } from './call-stream.js';
import type { Setting } from './configuration.js';
import { INTEGERS } from './call-arguments.js';
import { CPU_START, PREFACE, WALL_START } from './calls-ring.js';

/** Numbers of a status in an argument's copy. */
const STATUS_NUMBERS = 5;

/** Copies a status to `to[at]` and on, each field read once; returns whether it is legal. */
function takeStatus(value: unknown, to: Int32Array, at: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { bytes, source, tag, cancelled, error } = value as Status;
  if (
    typeof bytes !== 'number' ||
    (bytes | 0) !== bytes ||
    typeof source !== 'number' ||
    (source | 0) !== source ||
    typeof tag !== 'number' ||
    (tag | 0) !== tag ||
    typeof cancelled !== 'number' ||
    (cancelled << 24) >> 24 !== cancelled ||
    typeof error !== 'number' ||
    (error << 24) >> 24 !== error
  ) {
    return false;
  }
  to[at] = bytes;
  to[at + 1] = source;
  to[at + 2] = tag;
  to[at + 3] = cancelled;
  to[at + 4] = error;
  return true;
}

/** Writes a status that {@link takeStatus} copied, and returns the offset after it. */
function putStatus(view: DataView, p: number, from: Int32Array, at: number): number {
  view.setInt32(p + STATUS_BYTES_OFFSET, from[at]!);
  view.setInt32(p + STATUS_SOURCE_OFFSET, from[at + 1]!);
  view.setInt32(p + STATUS_TAG_OFFSET, from[at + 2]!);
  view.setInt8(p + STATUS_CANCELLED_OFFSET, from[at + 3]!);
  view.setInt8(p + STATUS_ERROR_OFFSET, from[at + 4]!);
  return p + STATUS_RECORD_BYTES;
}

/** Copies of arrays and statuses, one for each such argument of a call. They grow. */
class ArgumentCopies {
  /** Changes if a getter of an argument records another call, which makes copies of its own. */
  turn = 0;
  readonly #copies: Int32Array[] = [];

  begin(): number {
    return (this.turn = (this.turn + 1) | 0);
  }

  /** A copy with room for `count` numbers. Its content may be of another call. */
  of(argument: number, count: number): Int32Array {
    const copy = this.#copies[argument];
    if (copy !== undefined && copy.length >= count) return copy;
    return (this.#copies[argument] = new Int32Array(Math.max(2 * count, 16)));
  }
}

/** Longer arrays are left to the plain encoder, which keeps no copy of them. */
const MOST_COPIED = 65_536;

type NarrowEncoding = keyof typeof INTEGERS;

/** The test that a legal integer passes. */
function integerTest(encoding: NarrowEncoding, value: string): string {
  const cut = {
    i8: `${value} << 24 >> 24`,
    u8: `(${value} & 255)`,
    i16: `${value} << 16 >> 16`,
    i32: `(${value} | 0)`,
  }[encoding];
  return `typeof ${value} === 'number' && ${cut} === ${value}`;
}

interface Argument extends Field {
  /** Its name in the encoder: a0, a1, … Of arrays and statuses `n…` is the count and `t…` the copy. */
  variable: string;
  /** Its copy among `ArgumentCopies`. */
  index: number;
}

/** Whether an argument is read from a copy: getters may run while it is made, but not after. */
function isCopied({ dimensions, encoding }: Argument): boolean {
  return dimensions === 1 || encoding === 'status';
}

/** The test that an argument of the expected kind passes. A count below 0 is none. */
function argumentTest(argument: Argument, all: readonly Argument[]): string {
  const { variable, dimensions, encoding, count } = argument;
  if (!isCopied(argument)) return integerTest(encoding as NarrowEncoding, variable);
  const length = `n${variable}`;
  const counter = all.find(({ name }) => name === count)?.variable;
  if (dimensions === 0 || counter === undefined) return `${length} >= 0`;
  return `(${length} === 0 || ${length} > 0 && ${length} === ${counter})`;
}

/** Statements that copy an array or a status. An Int32Array, which has no getters, is left for later. */
function takeArgument({ variable, dimensions, encoding, index }: Argument): string {
  const copy = `t${variable} = copies.of(${index}, `;
  if (dimensions === 0) {
    return `${copy}${STATUS_NUMBERS}); if (${variable} !== null) n${variable} = takeStatus(${variable}, t${variable}, 0) ? 1 : -1;`;
  }
  const take = `n${variable} = take_${encoding}(${variable}, ${index}); ${copy}n${variable});`;
  if (encoding !== 'i32') return `if (${variable} !== null) { ${take} }`;
  return `if (${variable} !== null) {
    if (classNameOf.call(${variable}) === 'Int32Array') t${variable} = ${variable};
    else { ${take} }
  }`;
}

/** Statements for an Int32Array among the arguments. An empty one may be a detached one. */
function measureArgument({ variable, dimensions, encoding }: Argument): string {
  if (dimensions === 0 || encoding !== 'i32') return '';
  return `if (t${variable} === ${variable} && ${variable} !== null) n${variable} = lengthOf.call(${variable}) || -1;`;
}

/** Statements that write an argument at `p` and move it on. */
function writeArgument({ variable, dimensions, encoding }: Argument): string {
  if (dimensions === 0 && encoding === 'status') {
    return `view.setInt32(p, n${variable}); p += ${COUNT_BYTES};
  if (n${variable} !== 0) p = putStatus(view, p, t${variable}, 0);`;
  }
  if (dimensions === 0) {
    const { set } = INTEGERS[encoding as NarrowEncoding];
    return `view.${set}(p, ${variable}); p += ${ENCODED_BYTES[encoding]};`;
  }
  const write = `write_${encoding}(t${variable}, n${variable}, p + ${COUNT_BYTES})`;
  return `view.setInt32(p, n${variable});
  p = ${
    encoding === 'i32'
      ? `n${variable} < ${COPIED_AT_ONCE} || t${variable} !== ${variable} ? ${write} : copy_i32(t${variable}, n${variable}, p + ${COUNT_BYTES})`
      : write
  };`;
}

/** Elements of a typed array that are copied at once rather than in a loop. */
const COPIED_AT_ONCE = 24;

/**
 * An Int32Array needs no test, and is copied as it is to the next aligned offset, from where the core
 * moves it, byte order and all. Memory that another thread can grow is left to the loop.
 */
const COPY_TEXT = `function copy_i32(elements, count, p) {
  if (bufferOf.call(elements) instanceof SharedArrayBuffer) return write_i32(elements, count, p);
  words.set(elements, p + 3 >> 2);
  wordsToPut[0] = p;
  wordsToPut[1] = count;
  putWords();
  return p + 4 * count;
}
`;

/**
 * The functions that copy and write the elements of arrays. Each loop is a function of its own: V8 may
 * begin to run optimised code in the middle of a loop, and what follows it in the same function is then
 * compiled without ever having run, and thrown away at every call. They are not unrolled: V8 tests the
 * bounds of the array and of the DataView for every element all the same, and what would be hoisted
 * costs less than the longer text does.
 */
function loopText(all: readonly Argument[]): string {
  const encodings = new Set(
    all.filter(({ dimensions }) => dimensions === 1).map((a) => a.encoding),
  );
  return [...encodings]
    .map((encoding) => {
      const width = encoding === 'status' ? STATUS_NUMBERS : 1;
      const take =
        encoding === 'status'
          ? `if (!takeStatus(from[i], to, ${STATUS_NUMBERS} * i)) return -1;`
          : `const each = from[i];
    if (!(${integerTest(encoding as NarrowEncoding, 'each')})) return -1;
    to[i] = each;`;
      const write =
        encoding === 'status'
          ? `p = putStatus(view, p, from, ${STATUS_NUMBERS} * i);`
          : `view.${INTEGERS[encoding as NarrowEncoding].set}(p, from[i]);
    p += ${ENCODED_BYTES[encoding]};`;
      return `${encoding === 'i32' ? COPY_TEXT : ''}function take_${encoding}(from, index) {
  if (!isArray(from)) return -1;
  const count = from.length;
  if (typeof count !== 'number' || (count | 0) !== count || count < 0 || count > ${MOST_COPIED}) return -1;
  const to = copies.of(index, ${width} * count);
  for (let i = 0; i < count; i++) {
    ${take}
  }
  return count;
}
function write_${encoding}(from, count, p) {
  for (let i = 0; i < count; i++) {
    ${write}
  }
  return p;
}`;
    })
    .join('\n');
}

/**
 * The function that records a call at the cost of an event. Undefined for calls with strings, which are
 * slow to check and to write anyway, and for calls with rows or with integers of 64 bits, which are rare.
 *
 * @param setting what the configuration says of the call.
 */
export function compiledEncoder(
  stream: CallStream,
  call: Call,
  setting: Setting,
): CallEncoder | undefined {
  const compiles = call.fields.every(
    ({ dimensions, encoding }) =>
      dimensions < 2 && encoding !== 'chars' && encoding !== 'i64' && encoding !== 'u64',
  );
  if (setting === 'disable' || !compiles) return undefined;
  const success = successField(call, setting);
  const { head } = stream;
  const all = call.fields
    .filter(({ encoding }) => head.statuses || encoding !== 'status')
    .map((field, index): Argument => ({ ...field, index, variable: `a${index}` }));
  const copied = all.filter(isCopied);
  const named = (field: string): string => all.find(({ name }) => name === field)!.variable;
  const always = all.filter(({ rootOnly }) => !rootOnly);
  const rootOnly = all.filter((field) => field.rootOnly);

  // Everything of one size that comes before the first argument of another size has a constant offset.
  let fixed = head.bytes;
  let bound = head.bytes;
  const stores: string[] = [];
  let moving = false;
  for (const argument of all) {
    const { dimensions, encoding, variable } = argument;
    const simple = dimensions === 0 && encoding !== 'status' && !argument.rootOnly;
    if (dimensions === 0) {
      bound +=
        encoding === 'status'
          ? COUNT_BYTES + STATUS_RECORD_BYTES
          : ENCODED_BYTES[argument.encoding];
    } else {
      // 3 more, for where its elements may lie until they are moved.
      bound += COUNT_BYTES + 3;
    }
    if (simple && !moving) {
      const { set } = INTEGERS[encoding as NarrowEncoding];
      stores.push(`view.${set}(start + ${fixed}, ${variable});`);
      fixed += ENCODED_BYTES[encoding];
      continue;
    }
    if (!moving) stores.push(`let p = start + ${fixed};`);
    moving = true;
    stores.push(
      argument.rootOnly ? `if (root) { ${writeArgument(argument)} }` : writeArgument(argument),
    );
  }
  const growing = all
    .filter(({ dimensions }) => dimensions === 1)
    .map((argument) => ` + n${argument.variable} * ${ENCODED_BYTES[argument.encoding]}`)
    .join('');
  // Without what only a root has, and with no status: no record is shorter.
  const least = all
    .filter((argument) => !argument.rootOnly)
    .map((argument) => {
      if (!isCopied(argument)) return String(ENCODED_BYTES[argument.encoding]);
      return `${COUNT_BYTES} + n${argument.variable} * ${ENCODED_BYTES[argument.encoding]}`;
    });
  const tests = (arguments_: readonly Argument[]) =>
    arguments_.map((argument) => argumentTest(argument, all)).join('\n    && ') || 'true';
  const size = moving ? 'p - start' : String(fixed);

  // A label of 16 bits, the mask, and the upper half of the thread: one store.
  const front =
    head.thread === -1
      ? `view.setUint16(start, ${call.label}); view.setUint8(start + 2, ${head.mask});`
      : `view.setUint32(start, ${((call.label << 16) | (head.mask << 8)) >>> 0} | thread >> 8); view.setUint8(start + 4, thread);`;
  const restoreStart = [
    head.wall === -1 ? '' : `area[${WALL_START}] = wallStart;`,
    head.cpu === -1 ? '' : `area[${CPU_START}] = cpuStart;`,
    head.counters === -1 ? '' : 'counters.atStart = atStart;',
  ].join(' ');
  const keepStart = [
    head.wall === -1 ? '' : `const wallStart = area[${WALL_START}];`,
    head.cpu === -1 ? '' : `const cpuStart = area[${CPU_START}];`,
    head.counters === -1 ? '' : 'const atStart = counters.atStart;',
  ].join(' ');
  return buildEmitter(
    stream,
    {
      name: call.name,
      parameters: ['args', 'thread'],
      scope: ({ words, wordsToPut, putWords }) => ({
        stream,
        area: stream.area,
        stored: stream.stored,
        counters: stream.counters,
        copies: new ArgumentCopies(),
        isArray,
        bufferOf,
        classNameOf,
        lengthOf,
        words,
        wordsToPut,
        putWords,
        takeStatus,
        putStatus,
      }),
      functions: loopText(all),
      // All code of the program that can run, such as getters, runs in here.
      prepare: `if (thread === undefined) thread = 0;
  if (typeof args !== 'object' || args === null) return unusual(args, thread);
  ${keepStart}
  ${always.map(({ name, variable }) => `const ${variable} = args[${JSON.stringify(name)}];`).join('\n  ')}
  ${rootOnly.length === 0 ? '' : `const root = ${named(call.rankField!)} === ${named('root')};`}
  ${rootOnly.map(({ name, variable }) => `const ${variable} = root ? args[${JSON.stringify(name)}] : null;`).join('\n  ')}
  ${copied.map(({ variable }) => `let n${variable} = 0, t${variable} = null;`).join('\n  ')}
  ${copied.length === 0 ? '' : 'const turn = copies.begin();'}
  ${copied.map(takeArgument).join('\n  ')}
  ${copied.map(measureArgument).join('\n  ')}
  let usual = typeof thread === 'number' && (thread & 65535) === thread
    && ${tests(always)}
    ${rootOnly.length === 0 ? '' : `&& (!root || ${tests(rootOnly)})`};
  ${success === undefined ? '' : `if (usual && !(${named(success)} > 0)) { stream.ignore(${call.label}); return; }`}
  ${head.counters === -1 ? '' : 'if (usual) counters.readAtEnd();'}
  ${copied.length === 0 ? '' : 'if (copies.turn !== turn) usual = false;'}
  ${restoreStart}
  if (ring.free < ${bound}${growing} && usual && stream.dropIfFull(${call.label}, ${[head.bytes, ...least].join(' + ')})) return;`,
      test: 'usual',
      bytes: `${bound}${growing}`,
      write: `${front}
  ${head.counters === -1 ? '' : `counters.write(view, start + ${head.counters});`}
  ${stores.join('\n  ')}`,
      size,
      published: `stored[${call.label}]++;
  if (area[${PREFACE}] !== 0) stream.afterPreface(${call.label});`,
    },
    plainEncoder(stream, call, setting),
  );
}
