import { integerIn } from '../../core/options/argument.js';
import type { Call } from '../calls.js';
import type { CallStream } from './call-stream.js';
import type { Setting } from './configuration.js';
import type { RecordHead } from './record-head.js';
import { argumentBytes, takeArguments, writeArguments } from './call-arguments.js';

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
export function successField(call: Call, setting: Setting): 'flag' | 'outcount' | undefined {
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
 * Checks and copies the arguments that a program gives of a call: of one without fields, none need be
 * given.
 *
 * @throws TracewrightError that names the call, the field and its limit.
 */
export function takeGiven(call: Call, args: unknown): Values {
  return takeArguments(call, args ?? (call.fields.length === 0 ? {} : args));
}

/**
 * The function that records a call by walking the table: for any call, and where functions may not be
 * made from text.
 *
 * @param setting what the configuration says of the call.
 * @param observe gets the arguments of each call, whether or not it is stored.
 */
export function plainEncoder(
  stream: CallStream,
  call: Call,
  setting: Setting,
  observe?: (values: Values) => void,
): CallEncoder {
  if (setting === 'disable') {
    return (args, thread) => {
      const values = takeGiven(call, args);
      checkThread(thread);
      observe?.(values);
      stream.ignore(call.label);
    };
  }
  const { head, ring } = stream;
  const success = successField(call, setting);
  return (args, thread) => {
    const start = stream.start();
    const values = takeGiven(call, args);
    const number = checkThread(thread);
    stream.readCounters(start);
    observe?.(values);
    if (failed(values, success)) {
      stream.ignore(call.label);
      return;
    }
    const size = head.bytes + argumentBytes(call, values, head.statuses);
    if (ring.free < size) {
      if (size > ring.longestRecord) {
        recordLong(stream, head, call, values, number, size);
        return;
      }
      if (!ring.makeRoom(size)) {
        stream.ignore(call.label);
        return;
      }
    }
    const at = ring.position;
    stream.writeHead(head, ring.view, at, call.label, number);
    writeArguments(ring.view, ring.bytes, at + head.bytes, call, values, head.statuses);
    stream.commit(call.label, size);
  };
}

/** A record that the ring cannot hold: past it, after everything before. */
function recordLong(
  stream: CallStream,
  head: RecordHead,
  call: Call,
  values: Values,
  thread: number,
  size: number,
): void {
  const bytes = Buffer.allocUnsafe(size);
  const view = new DataView(bytes.buffer, bytes.byteOffset, size);
  stream.writeHead(head, view, 0, call.label, thread);
  writeArguments(view, bytes, head.bytes, call, values, head.statuses);
  stream.writeThrough(call.label, bytes);
}
