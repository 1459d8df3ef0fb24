import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach } from 'vitest';
import {
  CLOCK_OFFSET,
  HEADER_BYTES,
  JUMBO_DATA_OFFSET,
  JUMBO_FLAG,
  JUMBO_LENGTH_BYTES,
  MCV_OFFSET,
  PAYLOAD_OFFSET,
  STREAM_MAGIC,
  STREAM_VERSION,
  payloadSizeCode,
} from '../../src/ovni/layout.js';

/** The clock at which the traces of the tests begin. */
export const T0 = 1_000_000_000_000n;

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder that goes away after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tracewright-ovni-'));
  folders.push(folder);
  return folder;
}

/** The bytes of a normal event. */
export function normal(
  mcv: string,
  clock: bigint | number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const event = Buffer.alloc(HEADER_BYTES + payload.length);
  event[0] = payloadSizeCode(payload.length);
  event.write(mcv, MCV_OFFSET, 'latin1');
  event.writeBigUInt64LE(BigInt(clock), CLOCK_OFFSET);
  payload.copy(event, PAYLOAD_OFFSET);
  return event;
}

/** The bytes of a jumbo event; `length` is what it says of the data, however long that is. */
export function jumbo(
  mcv: string,
  clock: bigint | number,
  data: Buffer,
  length = data.length,
): Buffer {
  const event = Buffer.alloc(JUMBO_DATA_OFFSET + data.length);
  event[0] = JUMBO_FLAG | payloadSizeCode(JUMBO_LENGTH_BYTES);
  event.write(mcv, MCV_OFFSET, 'latin1');
  event.writeBigUInt64LE(BigInt(clock), CLOCK_OFFSET);
  event.writeUInt32LE(length, PAYLOAD_OFFSET);
  data.copy(event, JUMBO_DATA_OFFSET);
  return event;
}

export function i32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeInt32LE(value, 4 * at);
  return bytes;
}

/** The event that begins a thread's execution. */
export function execute(clock: bigint, cpu = -1): Buffer {
  return normal('OHx', clock, Buffer.concat([i32(cpu, -1), Buffer.alloc(8)]));
}

/** `OM[`, `OM]` or `OM=`. */
export function mark(mcv: string, clock: bigint, value: bigint | number, type: number): Buffer {
  const payload = Buffer.alloc(12);
  payload.writeBigInt64LE(BigInt(value));
  payload.writeInt32LE(type, 8);
  return normal(mcv, clock, payload);
}

export interface TestThread {
  loom?: string;
  pid?: number;
  tid?: number;
  events: Buffer[];
  /** Version 3: put into (or, being undefined, taken out of) the `ovni` object of stream.json. */
  ovni?: Record<string, unknown>;
  /** Version 3: beside `ovni` in stream.json. */
  attributes?: Record<string, unknown>;
}

export const cpus = [
  { index: 0, phyid: 0 },
  { index: 1, phyid: 2 },
];

export const streamHeader = (): Buffer => {
  const header = Buffer.alloc(8);
  header.write(STREAM_MAGIC);
  header.writeUInt32LE(STREAM_VERSION, 4);
  return header;
};

export function writeFileIn(folder: string, path: string, content: string | Uint8Array): string {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const place = ({ loom = 'node.1', pid = 1, tid = 1 }: TestThread): string =>
  `loom.${loom}/proc.${pid}/thread.${tid}`;

/** Writes a version 3 trace that the emulator accepts, but for what a test makes wrong in it. */
export function writeVersion3(threads: TestThread[], folder = temporaryFolder()): string {
  for (const thread of threads) {
    const { loom = 'node.1', pid = 1, tid = 1, events, ovni, attributes } = thread;
    const json = {
      version: 3,
      ovni: {
        lib: { version: '1.14.0', commit: 'unknown' },
        part: 'thread',
        tid,
        pid,
        loom,
        app_id: 1,
        require: { ovni: '1.1.0' },
        loom_cpus: cpus,
        finished: 1,
        ...ovni,
      },
      ...attributes,
    };
    writeFileIn(folder, `${place(thread)}/stream.json`, JSON.stringify(json));
    writeFileIn(folder, `${place(thread)}/stream.obs`, Buffer.concat([streamHeader(), ...events]));
  }
  return folder;
}

/** Writes a version 1 trace; `metadata` adds to that of a process, by its pid. */
export function writeVersion1(
  threads: TestThread[],
  metadata: Record<number, Record<string, unknown>> = {},
  folder = temporaryFolder(),
): string {
  for (const thread of threads) {
    const { pid = 1, events } = thread;
    writeFileIn(folder, place(thread), Buffer.concat(events));
    const first = threads.find((other) => (other.loom ?? '') === (thread.loom ?? ''));
    writeFileIn(
      folder,
      `${dirname(place(thread))}/metadata.json`,
      JSON.stringify({
        version: 1,
        app_id: 1,
        ...((first?.pid ?? 1) === pid && { cpus }),
        ...metadata[pid],
      }),
    );
  }
  return folder;
}
