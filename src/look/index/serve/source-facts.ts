import { counted } from '../../../core/counted.js';
import { TracewrightError } from '../../../core/errors.js';
import type { FoundTrace } from '../../../traces/find-traces.js';
import { RemainingRings } from '../../../traces/remaining-rings.js';
import { pidOfFile } from '../../../traces/run-directory.js';
import { CONTEXT, REDACTION_FAULT } from '../../../spans/layout.js';
import type { RecordedLosses } from '../../../spans/read/span-decoder.js';
import { processIdOf } from '../../../spans/read/process-id.js';
import type { RecordedResource } from '../../../spans/span-record.js';
import type { Loss, Source } from '../look-index.js';
import type { PartFacts } from '../parts/part-columns.js';
import type { ReadSource } from '../sources/read-source.js';

/** Streams of which losses are reported one by one. */
const MAX_STREAMS = 16;

/** What a source says of who has written it. */
export function writerOf(
  path: string,
  resource: RecordedResource | undefined,
): Pick<Source, 'service' | 'host' | 'pid' | 'withoutContext'> {
  const { attributes = {} } = resource ?? {};
  const textOf = (name: string): string | undefined => {
    const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  return {
    service: textOf('service.name'),
    host: textOf('host.name'),
    pid: processIdOf(resource) ?? pidOfFile(path),
    withoutContext: textOf(CONTEXT) === 'off',
  };
}

/** The hosts of sources that say theirs, by the number of the source. */
export function hostsOf(sources: readonly Source[]): Map<number, string> {
  const hosts = new Map<number, string>();
  for (const { number, host } of sources) if (host !== undefined) hosts.set(number, host);
  return hosts;
}

/** Whether the writer of a trace lives, and how it has ended. */
export function stateOf(
  { trace, state }: Pick<ReadSource, 'trace' | 'state'>,
  parts: readonly PartFacts[],
): Source['state'] {
  const ofRings = state ?? stateOfRings(trace);
  if (ofRings !== 'ended') return ofRings;
  return parts.some(({ unfinished }) => unfinished > 0) ? 'unfinished' : 'ended';
}

/** That of a trace in pieces: any of them can say how its process has ended, or that it lives. */
export function stateOfPieces(states: readonly Source['state'][]): Source['state'] {
  const order = ['growing', 'died', 'unfinished'] as const;
  return order.find((state) => states.includes(state)) ?? 'ended';
}

function stateOfRings(trace: FoundTrace): Source['state'] {
  try {
    const rings = [...new RemainingRings().of(trace)];
    if (rings.some(({ writer }) => writer !== undefined)) return 'growing';
    return rings.length > 0 ? 'died' : 'ended';
  } catch (error) {
    // Where a directory cannot be read, the trace itself has to do.
    if (!(error instanceof TracewrightError) && (error as { code?: unknown }).code === undefined) {
      throw error;
    }
    return 'ended';
  }
}

/** What a source has lost, in words. */
export function lossesOf(
  {
    losses,
    ended,
    end,
    trace,
    clock,
  }: Pick<ReadSource, 'losses' | 'ended' | 'end' | 'trace' | 'clock'>,
  parts: readonly PartFacts[],
): Loss[] {
  const all = [...losses, ...missingRecords(parts)];
  const faulty = parts.reduce((sum, part) => sum + part.faulty, 0);
  if (faulty > 0) {
    const { firstFaulty } = parts.find((part) => part.faulty > 0)!;
    const reason =
      `${counted(faulty, 'record')} of ${trace.path} not as the format says, the first at byte ` +
      `${firstFaulty}: attributes are missing`;
    all.push({ count: faulty, reason, isUnreadable: true });
  }
  if (clock.past.delays > 0) {
    const reason =
      `a clock record of ${trace.path} was written long after it was read, or the clock was set ` +
      'back a little: its spans have the times of the clock before';
    all.push({ count: undefined, reason });
  }
  if (ended === 'damaged') {
    const reason = `${trace.path} is damaged from byte ${end} on; nothing after it was read`;
    all.push({ count: undefined, reason, isUnreadable: true });
  } else if (ended === 'incomplete') {
    const reason = `the last record of ${trace.path} is incomplete, at byte ${end}`;
    all.push({ count: 1, reason, isUnreadable: true });
  }
  return all;
}

/** That a wrong pattern kept the process from recording paths. */
export function withheldPaths(resource: RecordedResource | undefined): Loss[] {
  const { attributes = {} } = resource ?? {};
  const fault = Object.hasOwn(attributes, REDACTION_FAULT)
    ? attributes[REDACTION_FAULT]
    : undefined;
  if (typeof fault !== 'string') return [];
  return [{ count: undefined, reason: `no paths recorded: ${fault}` }];
}

/** What threads have said of their losses. */
export function recordedLosses({ open, texts }: RecordedLosses): Loss[] {
  const all: Loss[] = [];
  if (open > 0) {
    const spans = counted(open, 'span that was open is', 'spans that were open are');
    all.push({ count: open, reason: `${spans} not kept: the table of open spans was full` });
  }
  if (texts > 0) {
    const said = counted(texts, 'text', 'texts');
    all.push({ count: texts, reason: `${said} not recorded: redaction took too long` });
  }
  return all;
}

/** Gaps in the counters of streams. */
function missingRecords(parts: readonly PartFacts[]): Loss[] {
  const streams = new Map<number, { last: number; missing: number; first: number }>();
  for (const { counts } of parts) {
    for (const { stream, first, last, missing } of counts) {
      const before = streams.get(stream);
      if (before === undefined) {
        streams.set(stream, { first, last, missing });
        continue;
      }
      const gap = (first - before.last - 1) >>> 0;
      if (gap < 0x8000_0000) before.missing += gap;
      before.missing += missing;
      before.last = last;
    }
  }
  const losing = [...streams].filter(([, { missing }]) => missing > 0);
  const shown = losing.slice(0, MAX_STREAMS).map(([stream, { missing }]) => {
    const thread = stream === 0 ? 'the main thread' : `thread ${stream}`;
    const reason = `${counted(missing, 'record')} of ${thread} missing: the ring was full`;
    return { count: missing, reason };
  });
  const rest = losing.slice(MAX_STREAMS).reduce((sum, [, { missing }]) => sum + missing, 0);
  if (rest > 0) {
    const reason = `${counted(rest, 'record')} of further threads missing: their rings were full`;
    shown.push({ count: rest, reason });
  }
  return shown;
}
