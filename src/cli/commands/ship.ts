import { bytesIn } from '../../core/settings/amounts.js';
import { PREFIX, textOf } from '../../core/settings/value-of.js';
import { setFlagsFromString } from 'node:v8';
import type { TracewrightError } from '../../core/errors.js';
import { counted } from '../../core/readable-text.js';
import { checkExportable, spanTest } from '../../export/selection.js';
import { Checkpoint, defaultCheckpoint } from '../../ship/checkpoint.js';
import { deleteSent } from '../../ship/delete-sent.js';
import { surveyTraces } from '../../ship/dry-run.js';
import { MetricsServer } from '../../ship/metrics-server.js';
import { openTarget } from '../../ship/open-target.js';
import { RefusedSpans } from '../../ship/refused-spans.js';
import { resourceOfOptions } from '../../ship/resource-options.js';
import { IN_FLIGHT, Shipper } from '../../ship/shipper.js';
import type { ShipperOptions } from '../../ship/shipper-options.js';
import { SpanMetrics } from '../../ship/span-metrics.js';
import { NOWHERE } from '../../ship/target.js';
import {
  type Command,
  EXIT_FAULTY,
  parseCommandLine,
  printMessage,
  UsageError,
} from '../command.js';
import { checkSelection } from '../condition-options.js';
import { FaultReport } from '../output/fault-report.js';
import { standardOutput } from '../output/text-output.js';

const MOST_IN_FLIGHT = 64;
/** Seconds of `--most-lag`. */
const MOST_LAG = 1_000_000;
/** Faults of one file that are said: it runs for months, with files that nobody can read. */
const MOST_FAULTS_OF_FILE = 5;
/** Milliseconds after a signal within which the spans at hand are sent. */
const END_MS = 10_000;
const DELETE_EVERY_MS = 5000;

/** `tracewright ship`. */
export const shipCommand: Command = {
  summary: 'send spans to a backend, also those of a killed process',
  help: `Usage: tracewright ship PATH... [--to URL]... [--once | --until-idle]
                       [--dry-run] [--checkpoint FILE] [--match CONDITION]...
                       [--resource NAME=VALUE]... [--headers FILE]...
                       [--refused DIR] [--recover] [--delete] [--newest-first]
                       [--compression gzip|none] [--in-flight N]
                       [--create-stream AGE[,BYTES]] [--roll BYTES,TIME]
                       [--metrics HOST:PORT] [--span-metrics | --metrics-only]
                       [--most-lag SECONDS] [--bandwidth BYTES]
                       [--owner UID|any]... [--ring-dir DIR]...

Follows the Heph traces below PATH, which need not exist yet, and sends their
spans to a backend of OpenTelemetry's protocol. A span of a living process goes
when it is in its file. Of a killed process also what its rings hold goes, with
the spans that were open. Nothing is written next to a trace. If the backend
does not answer, spans wait in their files.

  tracewright ship traces --to http://localhost:4318
  OTEL_EXPORTER_OTLP_ENDPOINT=https://otlp.example tracewright ship traces

  --to            http: or https: with a path, or with none for /v1/traces.
                  Can be repeated. Default: ${PREFIX}SHIP, or
                  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, or
                  OTEL_EXPORTER_OTLP_ENDPOINT, or http://localhost:4318
                  nats://HOST:PORT for a stream of NATS JetStream, or tls:
                  file:///DIRECTORY for files of Parquet, by hour and service
  --once          send what is there, and end; also after ten minutes without
                  an answer
  --until-idle    end 30 s after the last process below PATH has ended and its
                  spans have arrived, or after ten minutes without an answer
  --dry-run       say what would be sent, by service
  --checkpoint    where to note what has arrived. Default: a file below
                  ~/.local/state/tracewright/ship for these paths and targets
  --match         only spans that meet a condition, as --where of report;
                  can be repeated
  --resource      a further attribute of each resource; can be repeated
  --headers       a file with lines of NAME: VALUE, read again on SIGHUP; the
                  first is for the first --to, and so on
  --refused       keep spans that a target refuses for good in this directory
  --recover       complete traces of dead processes on the disk, as
                  tracewright recover does, once their spans were read
  --delete        delete files that are complete, and that every target has
  --newest-first  after a backlog, begin with the file that was written last
  --compression   of requests; default gzip
  --create-stream how long, and how many bytes, a stream of NATS keeps that is
                  made if there is none: 7d or 7d,10G
  --roll          when a file of Parquet is complete; default 128MB,5m
  --metrics       serve /metrics for Prometheus, and /healthz
  --span-metrics  with requests, errors and durations by service and route,
                  jobs, waits for pools, event loops and memory
  --metrics-only  the same, and nothing is sent
  --most-lag      /healthz answers 503 if a target is later; default 300
  --in-flight     requests at once; default ${IN_FLIGHT}, at most ${MOST_IN_FLIGHT}
  --bandwidth     bytes of traces a second at most: 500k, 10M
  --owner         also read files of this user, or of any. Default: those of
                  the user who runs the command, and of root
  --ring-dir      a further directory with rings; can be repeated
  --help          print this text

The other variables OTEL_EXPORTER_OTLP_HEADERS, _CERTIFICATE,
_CLIENT_CERTIFICATE, _CLIENT_KEY, _COMPRESSION, _TIMEOUT, and HTTP_PROXY,
HTTPS_PROXY and NO_PROXY apply too.

Exit codes
  0  everything that was read has arrived
  1  something was refused, could not be read, or has not arrived
  2  wrong usage, or another process uses the checkpoint
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(
      args,
      {
        to: { type: 'string', multiple: true },
        once: { type: 'boolean' },
        'until-idle': { type: 'boolean' },
        'dry-run': { type: 'boolean' },
        checkpoint: { type: 'string' },
        match: { type: 'string', multiple: true },
        resource: { type: 'string', multiple: true },
        headers: { type: 'string', multiple: true },
        refused: { type: 'string' },
        recover: { type: 'boolean' },
        delete: { type: 'boolean' },
        'newest-first': { type: 'boolean' },
        compression: { type: 'string' },
        'create-stream': { type: 'string' },
        roll: { type: 'string' },
        metrics: { type: 'string' },
        'span-metrics': { type: 'boolean' },
        'metrics-only': { type: 'boolean' },
        'most-lag': { type: 'string' },
        'in-flight': { type: 'string' },
        bandwidth: { type: 'string' },
        owner: { type: 'string', multiple: true },
        'ring-dir': { type: 'string', multiple: true },
      },
      ['PATH...'],
    );
    // Spans that were sent are most of the heap: it must not grow with them.
    setFlagsFromString('--heap-growing-percent=30');
    if (values.delete === true && values.match !== undefined) {
      throw new UsageError('--delete would delete spans that --match leaves out');
    }
    const { condition } = checkSelection({ where: values.match });
    const selection = { range: {}, condition };
    checkExportable(selection);
    const faults = new FaultReport('ship', { mostOfFile: MOST_FAULTS_OF_FILE });
    const say = (text: string): void => {
      printMessage(`tracewright ship: ${text}`);
    };
    const notes = new Set<string>();
    const options: Omit<ShipperOptions, 'refusedSpans'> = {
      paths: positionals,
      ringDirs: values['ring-dir'] ?? [],
      owners: checkOwners(values.owner),
      newestFirst: values['newest-first'] === true,
      inFlight: checkCount('--in-flight', values['in-flight'] ?? String(IN_FLIGHT), MOST_IN_FLIGHT),
      accepts: spanTest(selection, { epoch: 0n, length: 0 }),
      resource: resourceOfOptions(values.resource ?? [], process.env),
      bytesPerSecond: checkBandwidth(values.bandwidth),
      onFault: faults.add,
      onMessage(text) {
        // With several targets each would say it.
        if (notes.has(text)) return;
        if (notes.size < 1000) notes.add(text);
        say(text);
      },
    };
    const isOnlyCounted = values['metrics-only'] === true;
    if (isOnlyCounted) checkMetricsOnly(values);
    const urls: readonly (string | undefined)[] = values.to ?? [textOf('SHIP')];
    const headers = values.headers ?? [];
    if (headers.length > urls.length) {
      throw new UsageError(`there are ${headers.length} --headers and ${urls.length} --to`);
    }
    const targets = urls.map((url, i) =>
      isOnlyCounted
        ? NOWHERE
        : openTarget({
            url,
            headersFile: headers[i],
            compression: values.compression,
            createStream: values['create-stream'],
            roll: values.roll,
            onNote: say,
          }),
    );
    const labels = targets.map(({ label }) => label);
    if (new Set(labels).size < labels.length) throw new UsageError('two --to are the same');
    if (values['dry-run'] === true) {
      const output = standardOutput();
      for (const line of surveyTraces(options)) await output.write(`${line}\n`);
      await output.end();
      return faults.end();
    }
    const refused = values.refused === undefined ? undefined : new RefusedSpans(values.refused);
    const file = values.checkpoint ?? defaultCheckpoint(positionals, labels);
    const checkpoint = new Checkpoint(file);
    const hasSpanMetrics = isOnlyCounted || values['span-metrics'] === true;
    const spanMetrics = hasSpanMetrics ? new SpanMetrics() : undefined;
    const shippers = targets.map((target, i) => {
      const own = { ...options, refusedSpans: refused };
      // Each target reads all spans: they are counted once.
      if (i > 0) return new Shipper(target, checkpoint, own);
      return new Shipper(target, checkpoint, {
        ...own,
        onSpan: spanMetrics?.add,
        // Nobody knows which of the requests that were not kept a condition selects.
        onRecord: values.match === undefined ? spanMetrics?.addRecord : undefined,
        recovers: values.recover === true,
      });
    });
    const mostLagMs = checkCount('--most-lag', values['most-lag'] ?? '300', MOST_LAG) * 1000;
    const until = values.once === true ? 'once' : values['until-idle'] === true ? 'idle' : 'ended';
    let metrics: MetricsServer | undefined;
    const address = values.metrics;
    if (address !== undefined) {
      metrics = new MetricsServer({ shippers, spanMetrics, mostLagMs });
      // The process of the run before has the address until it ends. Spans are read meanwhile.
      const onTaken = (): void => {
        options.onMessage(`another process listens at ${address}: it is tried again every second`);
      };
      const listening = metrics.listen(address, until === 'idle' ? onTaken : undefined);
      const isListening = listening.then((url) => {
        say(`metrics at ${url}`);
      });
      if (until !== 'idle') await isListening;
      else {
        isListening.catch((error: unknown) => {
          options.onFault(error as TracewrightError);
        });
      }
    } else if (spanMetrics !== undefined) {
      throw new UsageError(`--${isOnlyCounted ? 'metrics-only' : 'span-metrics'} needs --metrics`);
    }
    let isEnding = false;
    const end = (): void => {
      if (isEnding) return;
      isEnding = true;
      for (const shipper of shippers) shipper.end(END_MS);
    };
    const reload = (): void => {
      for (const shipper of shippers) {
        try {
          shipper.reload();
        } catch (error) {
          say((error as Error).message);
        }
      }
    };
    process.on('SIGTERM', end).on('SIGINT', end).on('SIGHUP', reload);
    process.on('exit', reportUnsent);
    const deleting =
      values.delete === true
        ? setInterval(() => {
            deleteSent(shippers, checkpoint, options.ringDirs, say);
          }, DELETE_EVERY_MS)
        : undefined;
    if (until !== 'once')
      say(
        `follows ${positionals.join(', ')}${isOnlyCounted ? '' : ` and sends to ${labels.join(', ')}`}`,
      );
    try {
      await Promise.all(shippers.map((shipper) => shipper.run(until)));
      if (values.delete === true) deleteSent(shippers, checkpoint, options.ringDirs, say);
    } finally {
      clearInterval(deleting);
      metrics?.close();
      checkpoint.close();
      process.off('SIGTERM', end).off('SIGINT', end).off('SIGHUP', reload);
      process.off('exit', reportUnsent);
    }
    let code = faults.end();
    for (const { target, counts, isIdle } of shippers) {
      const spans = counted(counts.spans, 'span');
      const parts = [isOnlyCounted ? `${spans} read` : `${spans} sent to ${target.label}`];
      if (counts.refused > 0) parts.push(`${counts.refused} refused`);
      if (counts.invalid > 0) parts.push(`${counts.invalid} left out: an id of zeros is not valid`);
      if (!isIdle) parts.push('the rest has not arrived, and goes with the next run');
      say(parts.join(', '));
      if (counts.refused > 0 || !isIdle) code = EXIT_FAULTY;
    }
    return code;
  },
};

/** The process ends while spans wait: nothing is left that could send them. */
function reportUnsent(): void {
  process.exitCode = EXIT_FAULTY;
  printMessage('tracewright ship: ends although spans were not sent: they go with the next run');
}

/** Options of where and how spans are sent. */
const SENDING = [
  'to',
  'headers',
  'refused',
  'delete',
  'in-flight',
  'roll',
  'create-stream',
] as const;

function checkMetricsOnly(values: Partial<Record<(typeof SENDING)[number], unknown>>): void {
  const used = SENDING.find((name) => values[name] !== undefined);
  if (used !== undefined) throw new UsageError(`--metrics-only sends nothing: no --${used}`);
}

function checkCount(option: string, text: string, most: number): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > most) {
    throw new UsageError(
      `${option} must be a number from 1 to ${most}, got ${JSON.stringify(text)}`,
    );
  }
  return count;
}

function checkBandwidth(text: string | undefined): number {
  if (text === undefined) return Infinity;
  const bytes = bytesIn(text);
  if (bytes) return bytes;
  throw new UsageError(
    `--bandwidth must be bytes a second, such as 10M, got ${JSON.stringify(text)}`,
  );
}

/** Users whose files are read; undefined: those of all. */
function checkOwners(given: readonly string[] = []): ReadonlySet<number> | undefined {
  const own = process.geteuid?.();
  if (own === undefined || given.includes('any')) return undefined;
  const owners = new Set([0, own]);
  for (const text of given) {
    if (!/^\d+$/.test(text)) {
      throw new UsageError(
        `--owner must be a number of a user, or any, got ${JSON.stringify(text)}`,
      );
    }
    owners.add(Number(text));
  }
  return owners;
}
