import type { PartTrack } from '../../rows/row-batch.js';
import { STREAMS } from '../layout.js';
import type { RecordedResource } from '../span-record.js';

/** The name of a stream's thread where nothing else is known of it. */
export function nameOfStream(stream: number): string {
  return stream === 0 ? 'main' : `thread ${stream}`;
}

/** Whether a trace's streams have the numbers that Node gives to threads: its resource says so. */
export function hasThreadNumbers(resource: RecordedResource | undefined): boolean {
  const { attributes = {} } = resource ?? {};
  return Object.hasOwn(attributes, STREAMS) && attributes[STREAMS] === 'threads';
}

/** The name of a track's thread: that of its ovni stream, if streams have the numbers of threads. */
export function threadName(
  { name, thread }: Pick<PartTrack, 'name' | 'thread'>,
  resource: RecordedResource | undefined,
): string {
  const isNumbered = thread !== 0 && name === nameOfStream(thread);
  return isNumbered && hasThreadNumbers(resource) ? `worker ${thread}` : name;
}
