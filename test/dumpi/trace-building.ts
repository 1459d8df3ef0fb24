import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { COUNTED_LABELS, TOTAL_LABEL, callNamed } from '../../src/dumpi/calls.js';
import type { CallName } from '../../src/dumpi/calls.js';
import { argumentBytes, writeArguments } from '../../src/dumpi/write/call-arguments.js';
import {
  BODY_OFFSET,
  MAGIC,
  MASK_COUNTERS,
  MASK_CPU_TIME,
  MASK_STATUSES,
  MASK_THREAD,
  MASK_WALL_TIME,
} from '../../src/dumpi/layout.js';
import { encodeFunctionName, encodeSections } from '../../src/dumpi/section-encoder.js';
import type { FunctionName, Header } from '../../src/dumpi/sections.js';

/** Seconds over the bias and nanoseconds, as they stand in a record. */
export type RawClock = readonly [seconds: number, nanoseconds: number];

/** One call to be laid down; what the mask leaves out need not be there. */
export interface BuiltCall {
  name: CallName;
  mask: number;
  thread?: number | undefined;
  cpu?: readonly [start: RawClock, stop: RawClock] | undefined;
  wall?: readonly [start: RawClock, stop: RawClock] | undefined;
  counters?: readonly (readonly [enter: bigint, exit: bigint])[] | undefined;
  fields: Readonly<Record<string, unknown>>;
}

/** What a trace is made of; what is left out is empty. */
export interface BuiltTrace {
  cpuBias?: number;
  wallBias?: number;
  calls?: readonly BuiltCall[];
  header?: Partial<Header>;
  /** Counts by label; those of the calls unless given. */
  called?: readonly number[];
  ignored?: readonly number[];
  keyvals?: readonly (readonly [string, string])[];
  counterLabels?: readonly string[];
  datatypeSizes?: readonly number[];
  functionNames?: readonly FunctionName[];
  /** Entries that the index lacks at its front, with their sections, as in older traces: 0 to 3. */
  lacking?: number;
}

/** The bytes of one call's record. */
export function builtCall(built: BuiltCall): Buffer {
  const call = callNamed(built.name)!;
  const { mask, thread = 0, counters = [] } = built;
  const head: Buffer[] = [];
  const put = (bytes: number, write: (buffer: Buffer) => void): void => {
    const buffer = Buffer.alloc(bytes);
    write(buffer);
    head.push(buffer);
  };
  put(3, (buffer) => {
    buffer.writeUInt16BE(call.label, 0);
    buffer.writeUInt8(mask, 2);
  });
  if (mask & MASK_THREAD) put(2, (buffer) => buffer.writeUInt16BE(thread));
  for (const [bit, times] of [
    [MASK_CPU_TIME, built.cpu],
    [MASK_WALL_TIME, built.wall],
  ] as const) {
    if (!(mask & bit)) continue;
    for (const [seconds, nanoseconds] of times ?? [
      [0, 0],
      [0, 0],
    ]) {
      put(6, (buffer) => {
        buffer.writeUInt16BE(seconds, 0);
        buffer.writeUInt32BE(nanoseconds, 2);
      });
    }
  }
  if (mask & MASK_COUNTERS) {
    put(1, (buffer) => buffer.writeUInt8(counters.length));
    for (const value of counters.flat()) put(8, (buffer) => buffer.writeBigInt64BE(value));
  }
  const statuses = (mask & MASK_STATUSES) !== 0;
  const size = argumentBytes(call, built.fields, statuses);
  const body = Buffer.alloc(size);
  const view = new DataView(body.buffer, body.byteOffset, body.length);
  const end = writeArguments(view, body, 0, call, built.fields, statuses);
  if (end !== size) throw new Error(`${built.name} has ${end} bytes, not ${size}`);
  return Buffer.concat([...head, body]);
}

/** The bytes of a whole trace file. */
export function builtTrace(trace: BuiltTrace): Buffer {
  const { calls = [], keyvals = [], lacking = 0 } = trace;
  const counterLabels = lacking < 3 ? (trace.counterLabels ?? []) : undefined;
  const functionNames = lacking < 2 ? (trace.functionNames ?? []) : undefined;
  const datatypeSizes = lacking < 1 ? (trace.datatypeSizes ?? []) : undefined;
  const preamble = Buffer.alloc(BODY_OFFSET + 8);
  preamble.writeBigUInt64BE(MAGIC);
  preamble.writeInt32BE(trace.cpuBias ?? 0, BODY_OFFSET);
  preamble.writeInt32BE(trace.wallBias ?? 0, BODY_OFFSET + 4);
  const body = Buffer.concat([preamble, ...calls.map(builtCall)]);
  const called = new Array<number>(COUNTED_LABELS).fill(0);
  for (const { name } of calls) {
    const { label } = callNamed(name)!;
    if (label >= COUNTED_LABELS) continue;
    called[label]!++;
    called[TOTAL_LABEL]!++;
  }
  const names = functionNames && Buffer.concat(functionNames.map(encodeFunctionName));
  const { before, after } = encodeSections(
    body.length,
    {
      header: {
        version: [13, 0, 0],
        startTime: 1_795_220_230n,
        hostname: 'host',
        username: '<none>',
        meshCoordinates: [],
        meshSizes: [],
        ...trace.header,
      },
      footer: {
        calls: [...(trace.called ?? called)],
        ignored: [...(trace.ignored ?? new Array<number>(COUNTED_LABELS).fill(0))],
      },
      keyvals,
      counterLabels,
      datatypeSizes,
      functionNames: functionNames && { count: functionNames.length },
    },
    BODY_OFFSET,
  );
  return Buffer.concat([body, before, names ?? Buffer.alloc(0), after]);
}

/** Writes a trace below a directory and returns its path. */
export function writeBuilt(directory: string, name: string, trace: BuiltTrace): string {
  const path = join(directory, name);
  writeFileSync(path, builtTrace(trace));
  return path;
}
