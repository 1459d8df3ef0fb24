import { encodeEpoch, encodeEvent, someEvent } from '../../heph/byte-by-byte-encoder.js';
import { lastingDirectory, writeTrace } from '../../heph/temporary-file.js';
import { LOOP_DESCRIPTION } from '../../../src/spans/layout.js';
import { encodeResource, encodeSpan } from '../../export/span-file.js';
import type { HandmadeSpan } from '../../export/span-file.js';

const directory = lastingDirectory();
const RESOURCE = 1n | (1n << 16n);
export const [SERVER, CLIENT] = [RESOURCE | (1n << 8n), RESOURCE | (2n << 8n)];
/** The span had not ended: its end is the last sign of life. */
export const OPEN = 1n << 13n;
const MS = 1_000_000n;
export const STALL = 'event loop blocked';

let files = 0;

/** Spans of a service; their times are in ms. */
export function service(
  name: string,
  spans: readonly MadeSpan[],
  host?: string,
  loops: readonly LoopRecord[] = [],
): string {
  return writeTrace(
    directory,
    `${++files}/${name}.heph`,
    encodeEpoch(1_700_000_000_000_000_000n),
    encodeResource({ 'service.name': name, ...(host === undefined ? {} : { 'host.name': host }) }),
    ...spans.map(({ at: [start, end], ...span }) =>
      encodeSpan({ flags: RESOURCE, ...span, start: BigInt(start) * MS, end: BigInt(end) * MS }),
    ),
    ...loops.map(encodeLoop),
  );
}

/** Attributes of a record of an event loop, such as `busy` in ns. */
export interface LoopRecord {
  at: [number, number];
  figures: Record<string, number>;
}

/** The bytes of records of an event loop; times are in ms. */
function encodeLoop({ at: [start, end], figures }: LoopRecord): Buffer {
  const u64 = (name: string, value: number) =>
    ({ name, type: 'u64', value: BigInt(value) }) as const;
  return encodeEvent(
    someEvent({
      stream: 0,
      start: BigInt(start) * MS,
      end: BigInt(end) * MS,
      description: LOOP_DESCRIPTION,
      attributes: [u64('~v', 1), ...Object.entries(figures).map(([name, of]) => u64(name, of))],
    }),
  );
}

export type MadeSpan = Omit<HandmadeSpan, 'start' | 'end'> & { at: [number, number] };

/** A stall of the event loop, in ms. */
export function stall(id: bigint, from: number, to: number): MadeSpan {
  return { id, trace: 9n, name: STALL, at: [from, to] };
}
