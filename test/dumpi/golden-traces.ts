import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallName } from '../../src/dumpi/calls.js';
import { metafileText } from '../../src/dumpi/metafile.js';
import { lastingDirectory } from '../heph/temporary-file.js';
import { builtTrace } from './trace-building.js';
import type { BuiltCall } from './trace-building.js';

/**
 * The golden traces: files that the format's own library has written. Here are the calls that made
 * them, and the SHA-256 of the library's files and of the text that its reader prints for them
 * (`dumpi2ascii -a` in UTC).
 *
 * - `testtrace-*`: the traces that come with the library, of four ranks, version 1.0.0.
 * - `dumpi-*`: a program of two ranks, traced by version 13 of the library.
 */

type Times = readonly [number, number, number, number];

/** A rank's file. Each call: name, mask, thread, times over the bias of CPU and wall, arguments. */
export interface GoldenTrace {
  readonly sha256: string;
  readonly textSha256?: string;
  readonly version: readonly [number, number, number];
  readonly startTime: number;
  readonly hostname: string;
  readonly username: string;
  readonly cpuBias: number;
  readonly wallBias: number;
  readonly datatypeSizes: readonly number[];
  readonly calls: readonly (readonly [
    CallName,
    mask: number,
    thread: number,
    cpu: Times,
    wall: Times,
    Readonly<Record<string, unknown>>,
  ])[];
}

export const goldenTraces = JSON.parse(
  readFileSync(new URL('golden-calls.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, GoldenTrace>>;

const directory = lastingDirectory();

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function called([name, mask, thread, cpu, wall, fields]: GoldenTrace['calls'][number]): BuiltCall {
  const times = ([s0, n0, s1, n1]: Times): BuiltCall['cpu'] => [
    [s0, n0],
    [s1, n1],
  ];
  return { name, mask, thread, cpu: times(cpu), wall: times(wall), fields };
}

/** The bytes of a golden trace, from its calls. */
export function goldenBytes(trace: GoldenTrace): Buffer {
  const { cpuBias, wallBias, datatypeSizes, startTime, hostname, username, calls } = trace;
  const [major, minor, patch] = trace.version;
  return builtTrace({
    cpuBias,
    wallBias,
    datatypeSizes,
    header: { version: [major, minor, patch], startTime: BigInt(startTime), hostname, username },
    calls: calls.map(called),
  });
}

for (const [name, trace] of Object.entries(goldenTraces)) {
  writeFileSync(join(directory, name), goldenBytes(trace));
}

/** The runs of the golden traces, with the SHA-256 of their metafiles. */
export const goldenRuns = {
  testtrace: '67d9fe18821aa46ee7f68759d25bac894f1e565be7f83e6147989b7f468b9c4b',
  'dumpi-2026.11.21.00.17.10': 'be8291b66225936074247a2035666a54b35c96d7609c7794b970cbccfa5df20f',
} as const;

for (const run of Object.keys(goldenRuns)) {
  const ranks = Object.keys(goldenTraces).filter((name) => name.startsWith(run));
  const { hostname, username, startTime, version } = goldenTraces[ranks[0]!]!;
  const metafile = { hostname, numprocs: ranks.length, username, startTime, fileprefix: run };
  const [major, minor, patch] = version;
  writeFileSync(
    join(directory, `${run}.meta`),
    metafileText({ ...metafile, version: [major, minor, patch] }),
  );
}

/** Path of a golden file. */
export function golden(name: string): string {
  return join(directory, name);
}

/** The golden traces of ranks, or those whose text is known. */
export function goldenFiles(which: 'all' | 'printed' = 'all'): string[] {
  return Object.entries(goldenTraces)
    .filter(([, { textSha256 }]) => which === 'all' || textSha256 !== undefined)
    .map(([name]) => name);
}
