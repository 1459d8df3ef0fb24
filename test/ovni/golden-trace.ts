import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { temporaryFolder, writeFileIn } from './trace-building.js';

/**
 * The golden traces, as the format's own library has written them (version 3: release 1.14.0; version
 * 1: the library of the version 1 text), and the SHA-256 of its files. `golden.test.ts` makes the same
 * calls again.
 */

const THREAD = 'loom.node0.1000/proc.4242/thread.4242';
const METADATA1 = 'loom.node0.1000/proc.4242/metadata.json';

/** The bytes of an event of each kind, by hand: header, clock, payload. */
export const goldenEvents: readonly (readonly [mcv: string, hex: string, onlyVersion?: 3])[] = [
  ['OHx', '0f 4f4878 0010a5d4e8000000 00000000 ffffffff 0000000000000000'],
  ['OB.', '00 4f422e 0a10a5d4e8000000'],
  ['OAs', '03 4f4173 1410a5d4e8000000 01000000'],
  ['OHp', '00 4f4870 1e10a5d4e8000000'],
  ['OHr', '00 4f4872 2810a5d4e8000000'],
  ['VYc', '13 565963 3210a5d4e8000000 0e000000 01000000 74657374747970653100'],
  ['OM[', '0b 4f4d5b 3c10a5d4e8000000 0700000000000000 03000000', 3],
  ['OM]', '0b 4f4d5d 4610a5d4e8000000 0700000000000000 03000000', 3],
  ['XXa', '01 585861 5010a5d4e8000000 abcd'],
  ['XXb', '08 585862 5a10a5d4e8000000 010203040506070809'],
  ['OHe', '00 4f4865 6410a5d4e8000000'],
];
/** "ovni", then 1. */
const STREAM_HEADER = '6f766e69 01000000';

const cpus = [
  { index: 0, phyid: 0 },
  { index: 1, phyid: 2 },
];

export const goldenMetadata = {
  1: { version: 1, app_id: 1, cpus, rank: 0, nranks: 2 },
  3: {
    version: 3,
    ovni: {
      lib: { version: '1.14.0', commit: 'unknown' },
      part: 'thread',
      tid: 4242,
      pid: 4242,
      loom: 'node0.1000',
      app_id: 1,
      require: { ovni: '1.1.0', nosv: '2.4.0' },
      mark: { 3: { title: 'Request', chan_type: 'stack', labels: { 7: 'GET /' } } },
      rank: 0,
      nranks: 2,
      loom_cpus: cpus,
      finished: 1,
    },
    app: { name: 'golden', level: 2.5, debug: true },
  },
} as const;

/** SHA-256 of the library's files. */
export const goldenSums = {
  1: {
    stream: '1841de59e038afcbfa3e863a166848d87e6d128553ab6fb997fe971a83bcc282',
    metadata: '61ba2adcf9f9f0c82eac9d3fa3b0dffe2a7785913f561654e9458c7026007c51',
  },
  3: {
    stream: '76c0b0bd1c384d13b762baaf9ad976ad22b5eb0442f395010bb28ce62adbb7ff',
    metadata: 'ae528c6056a46356740d4bd91755be1c3f74e73fac758c1c4e22142a1b7f9343',
  },
} as const;

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** The library's stream. */
export function goldenStream(version: 1 | 3): Buffer {
  const events = goldenEvents.filter(([, , only]) => only === undefined || only === version);
  const hex = [version === 3 ? STREAM_HEADER : '', ...events.map(([, bytes]) => bytes)].join('');
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}

/** The library's metadata file, which escapes slashes. */
export function goldenMetadataText(version: 1 | 3): string {
  return JSON.stringify(goldenMetadata[version], undefined, 4).replaceAll('/', '\\/');
}

/** Writes the golden trace and returns its directory, and the paths of its stream and metadata. */
export function goldenTrace(version: 1 | 3): { trace: string; stream: string; metadata: string } {
  const trace = temporaryFolder();
  const stream = version === 1 ? THREAD : join(THREAD, 'stream.obs');
  const metadata = version === 1 ? METADATA1 : join(THREAD, 'stream.json');
  return {
    trace,
    stream: writeFileIn(trace, stream, goldenStream(version)),
    metadata: writeFileIn(trace, metadata, goldenMetadataText(version)),
  };
}
