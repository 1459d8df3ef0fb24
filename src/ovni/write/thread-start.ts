import { LITTLE } from '../../core/byte-order.js';
import { emitTo } from './emit.js';
import type { StreamWriter } from './stream-writer.js';

/** Values of a stream's first events. */
interface ThreadStart {
  /** Nanoseconds of an event before the thread's start; default: no such event. */
  lead?: bigint | undefined;
  /** Nanoseconds at which the thread starts, not before `lead`. */
  clock: bigint;
  /** Logical number of the CPU; -1: the loom's virtual CPU, which any number of threads share. */
  cpu: number;
  creatorTid: number;
}

/** Emits the start of a thread (`OHx`) to its stream. */
export function emitThreadStart(stream: StreamWriter, start: ThreadStart): void {
  const { lead, clock, cpu, creatorTid } = start;
  if (lead !== undefined) emitTo(stream, 'OB.', undefined, lead);
  const payload = new DataView(new ArrayBuffer(16));
  payload.setInt32(0, cpu, LITTLE);
  payload.setInt32(4, creatorTid, LITTLE);
  emitTo(stream, 'OHx', new Uint8Array(payload.buffer), clock);
}
