import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import * as dumpi from '../src/dumpi/index.js';
import * as workers from '../src/dumpi/workers/index.js';
import * as heph from '../src/heph/index.js';
import * as laplace from '../src/laplace/index.js';
import * as ovni from '../src/ovni/index.js';
import * as spans from '../src/spans/index.js';
import { callHostile, hostileValue } from './hostile-values.js';

/** Where the run of the workers' module goes, which asks as soon as it is loaded. */
const { directory } = await vi.hoisted(async () => {
  const { mkdtempSync } = await import('node:fs');
  const { tmpdir } = await import('node:os');
  const made = mkdtempSync(`${tmpdir()}/tracewright-hostile-`);
  process.env['TRACEWRIGHT_DUMPI_DIR'] = made;
  return { directory: made };
});
const from = process.cwd();
// Some values are names of files.
beforeAll(() => {
  process.chdir(mkdtempSync(join(directory, 'cwd-')));
});
afterAll(() => {
  process.chdir(from);
  rmSync(directory, { recursive: true, force: true });
});

type Loose = (...values: unknown[]) => unknown;
type LooseClass = new (...values: unknown[]) => Record<string, Loose>;
type Call = (values: readonly unknown[]) => unknown;
type Open = { close: () => unknown };

/** Calls a function with what comes, after what is right. */
const after =
  (call: unknown, ...right: unknown[]): Call =>
  (values) =>
    (call as Loose)(...right, ...values);

/** Opens a trace, and closes it. */
const opened =
  (open: Call): Call =>
  async (values) => {
    await (open(values) as Open).close();
  };

/** Options one at a time. */
const optionsOf = (open: (options: object) => unknown, ...names: string[]): Call[] =>
  names.map((name) => opened(([value]) => open({ [name]: value })));

const RING_OPTIONS = ['ringBytes', 'ringDir', 'onFull', 'blockLimitMs', 'clock', 'onFault'];
const METAFILE: dumpi.Metafile = {
  hostname: 'h',
  numprocs: 2,
  username: 'u',
  startTime: 1,
  fileprefix: 'run',
  version: [13, 0, 0],
};
let files = 0;
const newFile = (): string => join(directory, `file-${++files}`);
const newRank = (options: object): unknown =>
  dumpi.openRank({ directory, fileRoot: `r${++files}`, rank: 0, size: 1, ...options });
const event = { mcv: 'OHx', jumbo: false, payload: new Uint8Array(16), littleEndian: true };

/** Functions that take no path to read, and what they are called with. */
const functions: Readonly<Record<string, readonly Call[]>> = {
  'ovni.parseSignature': [after(ovni.parseSignature)],
  'ovni.decodeArguments': [
    after(ovni.decodeArguments),
    after(ovni.decodeArguments, { ...event, code: 0x78_48_4f }),
    ([payload]) =>
      (ovni.decodeArguments as Loose)({ ...event, payload }, ovni.parseSignature('OHx')),
    ([data]) =>
      (ovni.decodeArguments as Loose)(
        { ...event, jumbo: true, data },
        ovni.parseSignature('Zab+(u32 a, str b)'),
      ),
  ],
  'heph.openTrace': [
    opened(after(heph.openTrace)),
    opened(([value]) => (heph.openTrace as Loose)(newFile(), value)),
    ...optionsOf(
      (options) => heph.openTrace(newFile(), options),
      ...[...RING_OPTIONS, 'maxBytes', 'rotateBytes', 'atMaxBytes', 'fileMode', 'openSpans'],
    ),
    ...['udp', 'tcp', 'unix'].map((kind) =>
      opened(([value]) => (heph.openTrace as Loose)({ [kind]: value })),
    ),
    ...['udp', 'tcp'].map((kind) =>
      opened(([port]) => (heph.openTrace as Loose)({ [kind]: { host: '127.0.0.1', port } })),
    ),
  ],
  'heph.decodePacket': [after(heph.decodePacket)],
  'heph.PacketReceiver': [
    (values) => new (heph.PacketReceiver as unknown as LooseClass)(...values),
    ...['window', 'maxPacketBytes', 'maxHeldBytes', 'maxSenders', 'maxStreams'].map(
      (name): Call =>
        ([value]) =>
          new (heph.PacketReceiver as unknown as LooseClass)({ [name]: value }),
    ),
    ([value, bytes]) => new heph.PacketReceiver().datagram(value as never, bytes as never),
    ([bytes]) => new heph.PacketReceiver().datagram('sender', bytes as never),
    ([value]) => new heph.PacketReceiver().connection(value as never),
    ([bytes]) => new heph.PacketReceiver().connection('sender').push(bytes as never),
  ],
  'heph.PacketDecoder': [
    (values) => new (heph.PacketDecoder as unknown as LooseClass)(...values),
    ([maxPacketBytes]) =>
      new (heph.PacketDecoder as unknown as LooseClass)('x', { maxPacketBytes }),
    (values) => {
      const decoder = new heph.PacketDecoder();
      for (const value of values) {
        callHostile(() => {
          decoder.push(value as Uint8Array);
        });
      }
      decoder.end();
    },
  ],
  'heph.piecesOf': [after(heph.piecesOf)],
  'dumpi.createHandles': [after(dumpi.createHandles)],
  'dumpi.HandleNumbers': [
    (values) => new (dumpi.HandleNumbers as unknown as LooseClass)(...values),
    ...['take', 'release', 'numberOf', 'define', 'forget'].map((name): Call => (values) => {
      const numbers = new dumpi.HandleNumbers('comm') as unknown as Record<string, Loose>;
      for (const value of values) numbers['numberOf']!(value);
      numbers[name]!(...values);
    }),
  ],
  'dumpi.metafileText': [
    after(dumpi.metafileText),
    ...Object.keys(METAFILE).map(
      (name): Call =>
        ([value]) =>
          (dumpi.metafileText as Loose)({ ...METAFILE, [name]: value }),
    ),
  ],
  'dumpi.writeMetafile': [
    after(dumpi.writeMetafile),
    (values) => (dumpi.writeMetafile as Loose)(newFile(), ...values),
    ([mode]) => (dumpi.writeMetafile as Loose)(newFile(), METAFILE, mode),
  ],
  'dumpi.rankFileName': [after(dumpi.rankFileName), after(dumpi.rankFileName, 'run')],
  'dumpi.rankFiles': [
    // Two of them: a number of ranks can be large.
    (values) => {
      const paths = (dumpi.rankFiles as Loose)(...values) as Generator;
      paths.next();
      paths.next();
    },
    ([metafile]) => ((dumpi.rankFiles as Loose)('run.meta', metafile) as Generator).next(),
  ],
  'dumpi.openRank': [
    opened(after(dumpi.openRank)),
    ...optionsOf(newRank, ...RING_OPTIONS, 'directory', 'rank', 'size', 'username', 'threads'),
    ...optionsOf(newRank, 'cpuBias', 'fileMode', 'readCounters', 'hostname', 'startTime'),
  ],
  'dumpi.Rank': [
    opened((values) => new (dumpi.Rank as unknown as LooseClass)(...values)),
    ...[
      ...['enter', 'log', 'wrap', 'functionEnter', 'functionExit', 'annotate', 'profile'],
      ...['keyval', 'datatypeSize', 'counts', 'flush'],
    ].map((name) => async (values: readonly unknown[]) => {
      const rank = newRank({}) as Open & Record<string, Loose>;
      try {
        await rank[name]!(...values);
        await rank[name]!('x', ...values);
      } finally {
        rank.close();
      }
    }),
  ],
  'dumpi/workers.barrier': [after(workers.barrier)],
  'dumpi/workers.broadcast': [after(workers.broadcast), after(workers.broadcast, 1)],
  'laplace.openReferences': [
    opened(after(laplace.openReferences)),
    opened(([value]) => (laplace.openReferences as Loose)(newFile(), value)),
    ...optionsOf(
      (options) => laplace.openReferences(newFile(), options),
      ...[...RING_OPTIONS, 'form', 'endian', 'fileMode', 'maxBytes'],
    ),
  ],
  'laplace.openKernelEvents': [
    opened(after(laplace.openKernelEvents)),
    opened(([value]) => (laplace.openKernelEvents as Loose)(newFile(), value)),
    ...optionsOf(
      (options) => laplace.openKernelEvents(newFile(), options),
      ...[...RING_OPTIONS, 'fileMode', 'maxBytes'],
    ),
  ],
};

/** Tests that call the others: what reads a path, and what writes to an open trace. */
const elsewhere: Readonly<Record<string, RegExp>> = {
  'hostile-readers.test.ts': /\.(read|check|recover|convert|dump|referencesTo|textTo)/,
  'ovni/write/hostile-objects.test.ts':
    /^ovni\.(addCpu|attr(Get|Has|Set)|emit(Jumbo)?|event|mark\w+|procInit|procSetRank|thread(Init|Require))$/,
  'heph/write/hostile-objects.test.ts': /^heph\.(f64|i64|u64)$/,
  'spans/hostile-objects.test.ts':
    /^spans\.(bind|configure|extract|inject|setRoute|startSpan|with\w+)$/,
  'nothing: they take no argument':
    /^(ovni\.(attrFlush|clockNow|flush|procFini|procStats|threadFree|threadIsReady)|spans\.(activeSpan|flush|getBaggage|shutdown))$/,
  'nothing: errors are made by the package': /\.(TracewrightError|TraceFormatError)$/,
};

const modules = { dumpi, 'dumpi/workers': workers, heph, laplace, ovni, spans };

it('every public function is called with hostile values', () => {
  const all = Object.entries(modules).flatMap(([module, exported]) =>
    Object.entries(exported)
      .filter(([, value]) => typeof value === 'function')
      .map(([name]) => `${module}.${name}`),
  );
  const isCovered = (name: string): boolean =>
    name in functions || Object.values(elsewhere).some((pattern) => pattern.test(name));
  expect(all.filter((name) => !isCovered(name))).toEqual([]);
  expect(all).toEqual(expect.arrayContaining(Object.keys(functions)));
});

describe('whatever it is given, errors are typed', () => {
  it.each(Object.entries(functions))('%s', { timeout: 240_000 }, async (_, calls) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...calls),
        fc.array(hostileValue, { minLength: 1, maxLength: 3 }),
        async (call, makers) => {
          let failure: { error: unknown } | undefined;
          try {
            await call(makers.map((make) => make(() => undefined)));
          } catch (error) {
            failure = { error };
          }
          callHostile(() => {
            if (failure !== undefined) throw failure.error;
          });
        },
      ),
      { numRuns: 150 },
    );
  });
});
