import type { PartTrack } from '../../rows/row-batch.js';
import { STREAMS } from '../layout.js';
import type { RecordedResource } from '../span-record.js';
import { valueIn } from './attribute-in.js';

/** The name of a stream's thread where nothing else is known of it. */
export function nameOfStream(stream: number): string {
  return stream === 0 ? 'main' : `thread ${stream}`;
}

/** Whether a trace's streams have the numbers that Node gives to threads: its resource says so. */
function hasThreadNumbers(resource: RecordedResource | undefined): boolean {
  const { attributes = {} } = resource ?? {};
  return valueIn(attributes, STREAMS) === 'threads';
}

/** The name of a track's thread: that of its ovni stream, if streams have the numbers of threads. */
export function threadName(
  { name, thread }: Pick<PartTrack, 'name' | 'thread'>,
  resource: RecordedResource | undefined,
): string {
  const isNumbered = thread !== 0 && name === nameOfStream(thread);
  return isNumbered && hasThreadNumbers(resource) ? `worker ${thread}` : name;
}

/** Largest number of a process, in signed 32 bits. */
const MOST = 0x7fff_ffff;

/** The process that a resource names; undefined if it names none, or what cannot be one. */
export function processIdOf(resource: RecordedResource | undefined): number | undefined {
  const { attributes = {} } = resource ?? {};
  const pid = valueIn(attributes, 'process.pid');
  return Number.isInteger(pid) && (pid as number) > 0 && (pid as number) <= MOST
    ? (pid as number)
    : undefined;
}
