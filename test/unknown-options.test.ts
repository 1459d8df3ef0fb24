import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import * as dumpi from '../src/dumpi/index.js';
import * as workers from '../src/dumpi/workers/index.js';
import * as heph from '../src/heph/index.js';
import * as laplace from '../src/laplace/index.js';
import * as otel from '../src/otel/index.js';
import * as ovni from '../src/ovni/index.js';
import * as spans from '../src/spans/index.js';

/** Where the run of the workers' module goes, which asks as soon as it is loaded. */
vi.hoisted(() => (process.env['TRACEWRIGHT_DUMPI_DIR'] = '/nowhere'));

const directory = mkdtempSync(join(tmpdir(), 'tracewright-options-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});

type Call = (options: object) => unknown;
const file = join(directory, 'file');
const to = join(directory, 'to');
const rank = { directory, fileRoot: 'run', rank: 0, size: 1 };
const provider = new otel.TracewrightProvider();

/** The first element of what is read, which opens it. */
async function first(read: unknown): Promise<unknown> {
  const from = read as AsyncIterator<unknown> | Iterator<unknown>;
  return from.next();
}

/** Every call of the package that takes options, also within its options. */
const calls: Readonly<Record<string, Call>> = {
  'dumpi.Rank': (options) => new dumpi.Rank({ ...rank, ...options }),
  'dumpi.checkRun': (options) => first(dumpi.checkRun(file, options)),
  'dumpi.checkTrace': (options) => first(dumpi.checkTrace(file, options)),
  'dumpi.dumpi2ascii': (options) => first(dumpi.dumpi2ascii(file, options)),
  'dumpi.openRank': (options) => dumpi.openRank({ ...rank, ...options }),
  'dumpi.openRank, config': (config) => dumpi.openRank({ ...rank, config }),
  'dumpi.openRank, mesh': (mesh) => dumpi.openRank({ ...rank, mesh } as never),
  'dumpi.readCalls': (options) => first(dumpi.readCalls(file, options)),
  'dumpi.readSections': (options) => dumpi.readSections(file, options),
  'dumpi.recoverTrace': (options) => dumpi.recoverTrace(file, options),
  'heph.PacketDecoder': (options) => new heph.PacketDecoder('x', options),
  'heph.PacketReceiver': (options) => new heph.PacketReceiver(options),
  'heph.checkTrace': (options) => first(heph.checkTrace(file, options)),
  'heph.openTrace': (options) => heph.openTrace(to, options),
  'heph.openTrace, target': (options) => heph.openTrace({ file: to, ...options }),
  'heph.openTrace, udp': (options) =>
    heph.openTrace({ udp: { host: '127.0.0.1', port: 9, ...options } }),
  'heph.readPackets': (options) => first(heph.readPackets(file, options)),
  'heph.recoverTrace': (options) => heph.recoverTrace(file, options),
  'laplace.checkKernelEvents': (options) => first(laplace.checkKernelEvents(file, options)),
  'laplace.checkReferences': (options) => first(laplace.checkReferences(file, options)),
  'laplace.openKernelEvents': (options) => laplace.openKernelEvents(to, options),
  'laplace.openReferences': (options) => laplace.openReferences(to, options),
  'laplace.readKernelEvents': (options) => first(laplace.readKernelEvents(file, options)),
  'laplace.readReferences': (options) => first(laplace.readReferences(file, options)),
  'laplace.recoverTrace': (options) => laplace.recoverTrace(file, options),
  'laplace.referencesToText': (options) => laplace.referencesToText(file, to, options),
  'laplace.textToReferences': (options) => laplace.textToReferences(file, to, options),
  'otel.TracewrightProvider': (options) => new otel.TracewrightProvider(options),
  'otel.TracewrightProvider, forceFlush': (options) => provider.forceFlush(options),
  'otel.TracewrightProvider, shutdown': (options) => provider.shutdown(options),
  'otel.register': (options) => otel.register(options),
  'ovni.checkTrace': (options) => first(ovni.checkTrace(file, options)),
  'ovni.convertToVersion3': (options) => ovni.convertToVersion3(file, to, options),
  'ovni.markType': (options) => {
    ovni.markType(1, 'mark', options);
  },
  'ovni.procInit': (options) => ovni.procInit(1, 'loom', 1, options),
  'ovni.readStream': (options) => first(ovni.readStream(file, options as never)),
  'ovni.readTraceDirectory': (options) => ovni.readTraceDirectory(file, options),
  'ovni.recoverTrace': (options) => ovni.recoverTrace(file, options),
  'spans.configure': (options) => {
    spans.configure(options);
  },
  'spans.configure, keep': (keep) => {
    spans.configure({ keep });
  },
  'spans.configure, limits': (limits) => {
    spans.configure({ limits });
  },
  'spans.configure, openSpans': (openSpans) => {
    spans.configure({ openSpans });
  },
  'spans.configure, redact': (redact) => {
    spans.configure({ redact });
  },
  'spans.readSpans': (options) => first(spans.readSpans(file, options)),
  'spans.startSpan': (options) => spans.startSpan('order', {}, options),
  'spans.withSpan': (options) => spans.withSpan('order', {}, () => 1, options),
};

/** Those that take none: their objects are attributes, headers, metadata, or of the OpenTelemetry API. */
const others =
  /^(dumpi\.(HandleNumbers|createHandles|metafileText|rankFileName|rankFiles|readMetafile|writeMetafile)|dumpi\/workers\.(barrier|broadcast)|heph\.(decodePacket|f64|i64|piecesOf|readEpoch|u64)|otel\.TracewrightContextManager|ovni\.(addCpu|attr\w+|clockNow|decodeArguments|emit|emitJumbo|event|flush|mark(Label|Pop|Push|Set)|parseSignature|proc(Fini|SetRank|Stats)|thread\w+)|spans\.(activeSpan|bind|extract|flush|getBaggage|inject|setRoute|shutdown|withBaggage)|.*\.(TracewrightError|TraceFormatError))$/;

it('every public function takes options, or is among those that do not', () => {
  const modules = { dumpi, 'dumpi/workers': workers, heph, laplace, otel, ovni, spans };
  const functions = Object.entries(modules).flatMap(([module, exported]) =>
    Object.entries(exported)
      .filter(([, value]) => typeof value === 'function')
      .map(([name]) => `${module}.${name}`),
  );
  expect(functions.filter((name) => others.test(name) === name in calls)).toEqual([]);
  const named = Object.keys(calls).map((name) => name.replace(/,.*/, ''));
  expect(functions).toEqual(expect.arrayContaining(named));
});

it.each(Object.entries(calls))('%s refuses an unknown option', async (_, call) => {
  let failure: unknown;
  try {
    await call({ bogus: 1 });
  } catch (error) {
    failure = error;
  }
  expect(failure).toMatchObject({ code: 'ERR_ARGUMENT_RANGE', value: 'bogus' });
  expect(String(failure)).toMatch(/one of \w+/);
});
