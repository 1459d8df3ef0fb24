import { compile, mayCompile } from '../../core/ring/compile.js';
import { integerIn } from '../../core/options/argument.js';
import { commitText, ringScope } from '../../core/ring/emitter-text.js';
import { lengthOf } from '../../core/typed-array.js';
import type { Call, Field, Status } from '../calls.js';
import type { Setting } from './configuration.js';
import { argumentBytes, checkArguments, INTEGERS, writeArguments, writeStatus } from './encode.js';
import { COUNT_BYTES, STATUS_RECORD_BYTES } from '../layout.js';
import type { CallStream } from './call-stream.js';
import { PREFACE } from './interval-area.js';

/** Records one kind of call; its start has been stored in the stream's `area`. */
export type CallEncoder = (args: unknown, thread: number | undefined) => void;

type Values = Readonly<Record<string, unknown>>;

/** Calls that probe: whether they succeeded is in their arguments. */
const SUCCESS_FIELD: Readonly<Record<string, 'flag' | 'outcount' | undefined>> = {
  MPI_Iprobe: 'flag',
  MPI_Test: 'flag',
  MPI_Testany: 'flag',
  MPI_Testall: 'flag',
  MPI_Testsome: 'outcount',
};

/** The field that says whether a call succeeded, where only that is to be stored. */
function successField(call: Call, setting: Setting): 'flag' | 'outcount' | undefined {
  return setting === 'success' ? SUCCESS_FIELD[call.name] : undefined;
}

function failed(values: Values, success: 'flag' | 'outcount' | undefined): boolean {
  return success !== undefined && !((values[success] as number) > 0);
}

/** A thread of a record; 0 when none was given. */
export function checkThread(thread: unknown): number {
  return thread === undefined ? 0 : integerIn('thread', thread, 0, 0xffff);
}

/**
 * Checks the arguments that a program gives of a call: of one without fields, none need be given.
 *
 * @throws TracewrightError that names the call, the field and its limit.
 */
export function checkGiven(call: Call, args: unknown): Values {
  const values: unknown = args ?? (call.fields.length === 0 ? {} : args);
  checkArguments(call, values);
  return values;
}

/**
 * The function that records a call by walking the table: for any call, and where functions may not be
 * made from text.
 *
 * @param setting what the configuration says of the call.
 */
export function plainEncoder(stream: CallStream, call: Call, setting: Setting): CallEncoder {
  if (setting === 'disable') {
    return (args, thread) => {
      checkGiven(call, args);
      checkThread(thread);
      stream.ignore(call.label);
    };
  }
  const { head, ring } = stream;
  const success = successField(call, setting);
  return (args, thread) => {
    const values = checkGiven(call, args);
    const number = checkThread(thread);
    if (failed(values, success)) {
      stream.ignore(call.label);
      return;
    }
    const size = head.bytes + argumentBytes(call, values, head.statuses);
    if (ring.free < size) {
      if (size > ring.longestRecord) {
        recordLong(stream, call, values, number, size);
        return;
      }
      if (!ring.makeRoom(size)) {
        stream.ignore(call.label);
        return;
      }
    }
    const at = ring.position;
    stream.writeHead(ring.view, at, call.label, number);
    writeArguments(ring.view, ring.bytes, at + head.bytes, call, values, head.statuses);
    stream.commit(call.label, size);
  };
}

/** A record that the ring cannot hold: past it, behind everything before. */
function recordLong(
  stream: CallStream,
  call: Call,
  values: Values,
  thread: number,
  size: number,
): void {
  const { head } = stream;
  const bytes = Buffer.allocUnsafe(size);
  const view = new DataView(bytes.buffer, bytes.byteOffset, size);
  stream.writeHead(view, 0, call.label, thread);
  writeArguments(view, bytes, head.bytes, call, values, head.statuses);
  stream.writeThrough(call.label, bytes);
}

function isStatus(value: unknown): boolean {
  if (value === null) return true;
  if (typeof value !== 'object') return false;
  const { bytes, source, tag, cancelled, error } = value as Status;
  return (
    typeof bytes === 'number' &&
    (bytes | 0) === bytes &&
    typeof source === 'number' &&
    (source | 0) === source &&
    typeof tag === 'number' &&
    (tag | 0) === tag &&
    typeof cancelled === 'number' &&
    (cancelled << 24) >> 24 === cancelled &&
    typeof error === 'number' &&
    (error << 24) >> 24 === error
  );
}

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
  /** Its name in the encoder: a0, a1, … */
  variable: string;
}

/** The test that an argument of the expected kind passes; what it leaves is tested as it is written. */
function argumentTest(argument: Argument, all: readonly Argument[]): string {
  const { variable, dimensions, encoding, count } = argument;
  if (dimensions === 0) {
    return encoding === 'status'
      ? `isStatus(${variable})`
      : integerTest(encoding as NarrowEncoding, variable);
  }
  const counter = all.find(({ name }) => name === count)?.variable;
  const length = `n${variable}`;
  const tie =
    counter === undefined
      ? `${length} >= 0`
      : `(${length} === ${counter} || ${length} === 0 || ${counter} < 0 && ${length} === 0)`;
  return `(${variable} === null || (isArray(${variable}) || ${variable} instanceof Int32Array) && ${tie})`;
}

/** Statements that write an argument at `p` and move it on. */
function writeArgument({ variable, dimensions, encoding }: Argument): string {
  if (dimensions === 0 && encoding === 'status') {
    return `if (${variable} === null) { view.setInt32(p, 0); p += ${COUNT_BYTES}; }
  else { view.setInt32(p, 1); p = writeStatus(view, p + ${COUNT_BYTES}, ${variable}); }`;
  }
  if (dimensions === 0) {
    const { bytes, set } = INTEGERS[encoding as NarrowEncoding];
    return `view.${set}(p, ${variable}); p += ${bytes};`;
  }
  const write = `write_${encoding}(args, ${variable}, n${variable}, p + ${COUNT_BYTES})`;
  return `view.setInt32(p, n${variable});
  p = ${
    encoding === 'i32'
      ? `n${variable} < ${COPIED_AT_ONCE} || isArray(${variable}) ? ${write} : copy_i32(args, ${variable}, n${variable}, p + ${COUNT_BYTES})`
      : write
  };`;
}

/** Elements of a typed array that are copied at once rather than in a loop. */
const COPIED_AT_ONCE = 24;

/**
 * An Int32Array needs no test, and is copied as it is to the next aligned place, from where the core
 * moves it, byte order and all. One whose length is not what it says is left to the loop.
 */
const COPY_TEXT = `function copy_i32(args, elements, count, p) {
  if (lengthOf.call(elements) !== count) return write_i32(args, elements, count, p);
  words.set(elements, p + 3 >> 2);
  wordsToPut[0] = p;
  wordsToPut[1] = count;
  putWords();
  return p + 4 * count;
}
`;

/**
 * The functions that write the elements of arrays. Each loop is a function of its own: V8 may begin to
 * run optimised code in the middle of a loop, and what comes behind it in the same function is then
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
      const test =
        encoding === 'status'
          ? 'each !== null && isStatus(each)'
          : integerTest(encoding as NarrowEncoding, 'each');
      const write =
        encoding === 'status'
          ? 'p = writeStatus(view, p, each);'
          : `view.${INTEGERS[encoding as NarrowEncoding].set}(p, each);
    p += ${INTEGERS[encoding as NarrowEncoding].bytes};`;
      return `${encoding === 'i32' ? COPY_TEXT : ''}function write_${encoding}(args, elements, count, p) {
  for (let i = 0; i < count; i++) {
    const each = elements[i];
    if (!(${test})) check(args);
    ${write}
  }
  return p;
}`;
    })
    .join('\n');
}

function elementBytes({ encoding }: Field): number {
  return encoding === 'status' ? STATUS_RECORD_BYTES : INTEGERS[encoding as NarrowEncoding].bytes;
}

/**
 * The function that records a call at the cost of an event, or undefined where there is none: for
 * calls with strings, which are slow to check and to write whatever one does, with rows or with
 * integers of 64 bits, which are rare; and where functions may not be made from text.
 */
export function compiledEncoder(
  stream: CallStream,
  call: Call,
  setting: Setting,
): CallEncoder | undefined {
  const compiles = call.fields.every(
    ({ dimensions, encoding }) => dimensions < 2 && encoding !== 'chars' && encoding !== 'i64',
  );
  if (setting === 'disable' || !compiles || !mayCompile()) return undefined;
  const success = successField(call, setting);
  const { head } = stream;
  const all = call.fields
    .filter(({ encoding }) => head.statuses || encoding !== 'status')
    .map((field, i): Argument => ({ ...field, variable: `a${i}` }));
  const always = all.filter(({ rootOnly }) => !rootOnly);
  const rootOnly = all.filter((field) => field.rootOnly);
  const isRoot = `args.${call.rankField ?? ''} === args.root`;

  // Everything of one size that comes before the first argument of another size has a constant place.
  let fixed = head.bytes;
  let bound = head.bytes;
  const stores: string[] = [];
  let moving = false;
  for (const argument of all) {
    const { dimensions, encoding, variable } = argument;
    const simple = dimensions === 0 && encoding !== 'status' && !argument.rootOnly;
    if (dimensions === 0) {
      bound += encoding === 'status' ? COUNT_BYTES + STATUS_RECORD_BYTES : elementBytes(argument);
    } else {
      // 3 more, for where its elements may lie until they are moved.
      bound += COUNT_BYTES + 3;
    }
    if (simple && !moving) {
      const { bytes, set } = INTEGERS[encoding as NarrowEncoding];
      stores.push(`view.${set}(at + ${fixed}, ${variable});`);
      fixed += bytes;
      continue;
    }
    if (!moving) stores.push(`let p = at + ${fixed};`);
    moving = true;
    stores.push(
      argument.rootOnly ? `if (root) { ${writeArgument(argument)} }` : writeArgument(argument),
    );
  }
  const growing = all
    .filter(({ dimensions }) => dimensions === 1)
    .map((argument) => ` + n${argument.variable} * ${elementBytes(argument)}`)
    .join('');
  const lengths = (arguments_: readonly Argument[]) =>
    arguments_
      .filter(({ dimensions }) => dimensions === 1)
      .map(({ variable }) => `let n${variable} = 0;`);
  const loads = (arguments_: readonly Argument[]) =>
    arguments_.flatMap(({ variable, dimensions }) =>
      dimensions === 1
        ? [
            `if (${variable} !== null && ${variable} !== undefined) n${variable} = ${variable}.length;`,
          ]
        : [],
    );
  const tests = (arguments_: readonly Argument[]) =>
    arguments_.map((argument) => argumentTest(argument, all)).join('\n    && ') || 'true';
  const size = moving ? 'p - at' : String(fixed);

  // A label of 16 bits, the mask, and the upper half of the thread: one store.
  const front =
    head.thread === -1
      ? `view.setUint16(at, ${call.label}); view.setUint8(at + 2, ${head.mask});`
      : `view.setUint32(at, ${((call.label << 16) | (head.mask << 8)) >>> 0} | thread >> 8); view.setUint8(at + 4, thread);`;
  const body = `${loopText(all)}
return function recordCall(args, thread) {
  if (thread === undefined) thread = 0;
  else if (!(typeof thread === 'number' && (thread & 65535) === thread)) checkThread(thread);
  if (typeof args !== 'object' || args === null) ${call.fields.length === 0 ? 'if (args !== undefined)' : ''} check(args);
  ${always.map(({ name, variable }) => `const ${variable} = args[${JSON.stringify(name)}];`).join('\n  ')}
  ${rootOnly.length === 0 ? '' : `const root = ${isRoot};`}
  ${rootOnly.map(({ name, variable }) => `const ${variable} = root ? args[${JSON.stringify(name)}] : null;`).join('\n  ')}
  ${[...lengths(all), ...loads(all)].join('\n  ')}
  if (!(${tests(always)})) check(args);
  ${rootOnly.length === 0 ? '' : `if (root && !(${tests(rootOnly)})) check(args);`}
  ${success === undefined ? '' : `if (!(args.${success} > 0)) { stream.ignore(${call.label}); return; }`}
  const bound = ${bound}${growing};
  if (ring.free < bound) {
    if (bound > ring.longestRecord) {
      recordPlain(args, thread);
      return;
    }
    if (!ring.makeRoom(bound)) {
      stream.ignore(${call.label});
      return;
    }
  }
  const at = ring.position;
  ${front}
  ${head.counters === -1 ? '' : `counters.write(view, at + ${head.counters});`}
  ${stores.join('\n  ')}
  const size = ${size};
  stored[${call.label}]++;
  ${commitText(stream.ring, 'at', 'size')}
  if (area[${PREFACE}] !== 0) stream.afterPreface(${call.label});
};`;
  const check = (args: unknown): void => {
    checkArguments(call, args);
  };
  return compile(
    call.name,
    {
      ...ringScope(stream.ring),
      stream,
      area: stream.area,
      stored: stream.stored,
      counters: stream.counters,
      check,
      checkThread,
      isArray: Array.isArray,
      lengthOf,
      words: stream.ring.words,
      wordsToPut: stream.ring.wordsToPut,
      putWords: stream.ring.putWords,
      isStatus,
      writeStatus,
      recordPlain: plainEncoder(stream, call, setting),
    },
    body,
  ) as CallEncoder;
}
