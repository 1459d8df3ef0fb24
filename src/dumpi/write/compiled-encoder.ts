import { buildEmitter } from '../../core/ring/emitter-builder.js';
import { lengthOf } from '../../core/typed-array.js';
import type { Call, Field, Status } from '../calls.js';
import { COUNT_BYTES, STATUS_RECORD_BYTES } from '../layout.js';
import { plainEncoder, successField } from './plain-encoder.js';
import type { CallEncoder } from './plain-encoder.js';
import type { CallStream } from './call-stream.js';
import type { Setting } from './configuration.js';
import { checkArguments, INTEGERS, writeStatus } from './call-arguments.js';
import { PREFACE } from './interval-area.js';

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
 * run optimised code in the middle of a loop, and what follows it in the same function is then
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
    ({ dimensions, encoding }) => dimensions < 2 && encoding !== 'chars' && encoding !== 'i64',
  );
  if (setting === 'disable' || !compiles) return undefined;
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
      stores.push(`view.${set}(start + ${fixed}, ${variable});`);
      fixed += bytes;
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
  const size = moving ? 'p - start' : String(fixed);

  // A label of 16 bits, the mask, and the upper half of the thread: one store.
  const front =
    head.thread === -1
      ? `view.setUint16(start, ${call.label}); view.setUint8(start + 2, ${head.mask});`
      : `view.setUint32(start, ${((call.label << 16) | (head.mask << 8)) >>> 0} | thread >> 8); view.setUint8(start + 4, thread);`;
  const check = (args: unknown): void => {
    checkArguments(call, args);
  };
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
        check,
        isArray: Array.isArray,
        lengthOf,
        words,
        wordsToPut,
        putWords,
        isStatus,
        writeStatus,
      }),
      functions: loopText(all),
      prepare: `if (thread === undefined) thread = 0;
  if (typeof args !== 'object' || args === null) return unusual(args, thread);
  ${always.map(({ name, variable }) => `const ${variable} = args[${JSON.stringify(name)}];`).join('\n  ')}
  ${rootOnly.length === 0 ? '' : `const root = ${isRoot};`}
  ${rootOnly.map(({ name, variable }) => `const ${variable} = root ? args[${JSON.stringify(name)}] : null;`).join('\n  ')}
  ${[...lengths(all), ...loads(all)].join('\n  ')}
  const usual = typeof thread === 'number' && (thread & 65535) === thread
    && ${tests(always)}
    ${rootOnly.length === 0 ? '' : `&& (!root || ${tests(rootOnly)})`};
  ${success === undefined ? '' : `if (usual && !(args.${success} > 0)) { stream.ignore(${call.label}); return; }`}`,
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
