import { entryOf } from '../../core/map-entries.js';
import type { OnFault } from '../../core/fault.js';
import type { Progress } from '../../core/finding.js';
import { jsonInteger, jsonValue } from '../../core/json.js';
import type { JsonValue } from '../../core/json.js';
import { terminalText } from '../../core/readable-text.js';
import { declarationOf } from '../catalog.js';
import { loomName, processName, threadName } from '../file-names.js';
import { decodeArguments } from './event-arguments.js';
import type { DecodedArguments } from './event-arguments.js';
import { mergeStreams } from './merge-streams.js';
import type { MergedEvent } from './merge-streams.js';
import { MARK_PUSH, MARK_POP, MARK_SET } from './reader.js';
import { markTypesOf, readTraceDirectory } from './trace-directory.js';
import type { MarkTypes, ThreadStream } from './trace-directory.js';

/** Bytes of a payload or of jumbo data that are shown where they cannot be decoded. */
const SHOWN_BYTES = 32;
/** Characters of a loom's name. */
const MAX_LOOM = 4096;

const MARK_CODES: ReadonlySet<number> = new Set([MARK_PUSH, MARK_POP, MARK_SET]);

/** An event with the definitions that describe it. */
interface DumpedEvent extends MergedEvent {
  /** The mark types of the trace. */
  marks: MarkTypes;
}

/**
 * The events of a trace, or of a part of it, in the order of their clocks with the offsets of their
 * hosts. A yielded event is valid until the next one; {@link dumpLine} and {@link dumpObject} make
 * copies of it.
 *
 * @param path a trace directory, a loom, a process or a single stream.
 * @param options.onFault takes faults of metadata and streams; the others are dumped.
 * @throws TraceFormatError for metadata or a stream that is not as the format requires, unless there is
 *   `onFault`. The events before the fault have been yielded.
 */
export function* dumpEvents(
  path: string,
  options: { onProgress?: Progress | undefined; onFault?: OnFault | undefined } = {},
): Generator<DumpedEvent, void> {
  const trace = readTraceDirectory(path, { onFault: options.onFault });
  const marks = markTypesOf(trace);
  let dumped: DumpedEvent | undefined;
  for (const merged of mergeStreams(trace, trace.streams, options)) {
    dumped ??= { ...merged, marks };
    dumped.stream = merged.stream;
    dumped.event = merged.event;
    dumped.clock = merged.clock;
    yield dumped;
  }
}

/**
 * One readable line for an event, without the newline: the clock in nanoseconds, the MCV, the thread,
 * and the description of a declared event or the bytes of any other. A mark also gets its title and
 * label from the trace's metadata. Control characters are escaped, so that a hostile trace cannot
 * control a terminal.
 */
export function dumpLine({ stream, event, clock, marks }: DumpedEvent): string {
  const { code } = event;
  let description = descriptions.get(code);
  if (description === undefined) {
    description = partsOf(declarationOf(event.mcv)?.description);
    // A hostile trace can have 2^24 of them.
    if (descriptions.size < MAX_CACHED) descriptions.set(code, description);
  }
  const label = entryOf(labels, stream, () =>
    terminalText(
      [loomName(shownLoom(stream)), processName(stream.pid), threadName(stream.tid)].join('/'),
    ),
  );
  const decoded = description === 'not declared' ? undefined : decodeArguments(event);
  const meaning =
    description === 'not declared'
      ? description + shownBytes(event)
      : decoded === undefined
        ? `not as declared${shownBytes(event)}`
        : described(description, MARK_CODES.has(code) ? withNames(decoded, marks) : decoded);
  return `${clock}  ${terminalText(event.mcv)}  ${label}  ${meaning}`;
}

/**
 * The event as an object for `JSON.stringify`. Integers of 64 bits are numbers up to 2^53 - 1 and
 * decimal strings beyond. An event with the declared payload has `args`; any other has `payload` or
 * `data` in hexadecimal. `mark` has the title and label of a mark, if the trace's metadata have them.
 * `data` of more than 16 MiB is omitted; `dataBytes` is its length.
 */
export function dumpObject({
  stream,
  event,
  clock,
  marks,
}: DumpedEvent): Record<string, JsonValue> {
  const { mcv, offset, size, jumbo, data } = event;
  const object: Record<string, JsonValue> = {
    clock: jsonInteger(clock),
    loom: shownLoom(stream),
    pid: stream.pid,
    tid: stream.tid,
    mcv,
    offset,
    size,
  };
  if (jumbo) object['dataBytes'] = event.dataBytes;
  const decoded = declarationOf(mcv) === undefined ? undefined : decodeArguments(event);
  if (decoded !== undefined) {
    const args = Object.entries(decoded);
    if (args.length > 0) {
      object['args'] = Object.fromEntries(args.map(([name, value]) => [name, jsonValue(value)]));
    }
    if (MARK_CODES.has(event.code)) {
      const { title, label } = namesOf(decoded, marks);
      if (title !== undefined) object['mark'] = label === undefined ? { title } : { title, label };
    }
  } else if (!jumbo) {
    if (event.payloadBytes > 0) object['payload'] = hexadecimal(event.payload);
  } else if (data !== undefined) {
    object['data'] = hexadecimal(data);
  }
  return object;
}

/** The name of the loom, cut to the longest path, because each line repeats it. */
function shownLoom({ loom }: ThreadStream): string {
  return loom.length > MAX_LOOM ? `${loom.slice(0, MAX_LOOM)}…` : loom;
}

/** Title and label of a mark, as far as the metadata have them. */
function namesOf(
  { type, value }: DecodedArguments,
  marks: MarkTypes,
): { title?: string | undefined; label?: string | undefined } {
  const mark = marks.get(type as number);
  return { title: mark?.title, label: mark?.labels.get(value as bigint) };
}

/** The arguments of a mark, followed by their names: `7 "loading"`. */
function withNames(args: DecodedArguments, marks: MarkTypes): DecodedArguments {
  const { title, label } = namesOf(args, marks);
  const named = (argument: string, name: string | undefined): string =>
    String(args[argument]) + (name === undefined ? '' : ` "${name}"`);
  return { type: named('type', title), value: named('value', label) };
}

/** A piece of a description: text, or an argument and whether it is shown in hexadecimal. */
type Part = string | { readonly name: string; readonly hexadecimal: boolean };

/** Parsed once for each MCV, and formatted once for each thread: dumps are long. */
const descriptions = new Map<number, readonly Part[] | 'not declared'>();
const labels = new WeakMap<ThreadStream, string>();
const MAX_CACHED = 4096;

function partsOf(description: string | undefined): readonly Part[] | 'not declared' {
  if (description === undefined) return 'not declared';
  return description.split(/(%(?:#llx)?\{\w+\})/).map((part) => {
    const match = /^%(#llx)?\{(\w+)\}$/.exec(part);
    return match === null ? part : { name: match[2]!, hexadecimal: match[1] !== undefined };
  });
}

/** The catalog's description with the arguments filled in. */
function described(parts: readonly Part[], args: DecodedArguments): string {
  let text = '';
  for (const part of parts) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    const value = args[part.name];
    if (typeof value === 'string') text += terminalText(value);
    else if (value === undefined) text += '?';
    // As %#llx of C does it, 0 has no prefix.
    else if (part.hexadecimal && BigInt(value) !== 0n) text += `0x${value.toString(16)}`;
    else text += value.toString();
  }
  return text;
}

function shownBytes(event: MergedEvent['event']): string {
  const { jumbo, data } = event;
  if (jumbo && data === undefined) return `: ${event.dataBytes} bytes`;
  const bytes = data ?? event.payload;
  if (bytes.length === 0) return '';
  const more = bytes.length - SHOWN_BYTES;
  return `: ${hexadecimal(bytes.subarray(0, SHOWN_BYTES))}${more > 0 ? ` and ${more} bytes more` : ''}`;
}

function hexadecimal(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
}
