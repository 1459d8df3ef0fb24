import { counted } from '../../../core/readable-text.js';
import { TracewrightError } from '../../../core/errors.js';
import { predecessorsOf, pidInRun } from '../../../heph/file-names.js';
import { textIn, valueIn } from '../../../spans/read/attribute-in.js';
import { hephFormat } from '../../../spans/read/heph-format.js';
import type { FoundTrace } from '../../../traces/find-traces.js';
import { RemainingRings } from '../../../traces/remaining-rings.js';
import {
  CONTEXT,
  MEMORY_GROUP,
  MEMORY_LIMIT,
  REDACTION_FAULT,
  SAMPLING_RATIO,
} from '../../../spans/layout.js';
import type { RecordedLosses } from '../../../spans/read/span-notes.js';
import { processIdOf, nameOfStream, threadName } from '../../../spans/read/resource-facts.js';
import type { RecordedResource } from '../../../spans/span-record.js';
import type { Loss, Source } from '../look-index.js';
import type { PartFacts } from '../parts/part-columns.js';
import type { ReadSource } from '../sources/read-source.js';

/** Streams of which losses are reported one by one. */
const MAX_STREAMS = 16;

/** Reads the process, the service and the host that wrote a source. */
export function writerOf(
  path: string,
  resource: RecordedResource | undefined,
): Pick<
  Source,
  'service' | 'host' | 'pid' | 'withoutContext' | 'sampled' | 'memoryGroup' | 'memoryLimit'
> {
  const { attributes = {} } = resource ?? {};
  return {
    service: textIn(attributes, 'service.name'),
    host: textIn(attributes, 'host.name'),
    pid: processIdOf(resource) ?? pidInRun(path),
    withoutContext: textIn(attributes, CONTEXT) === 'off',
    memoryGroup: textIn(attributes, MEMORY_GROUP),
    memoryLimit: Number(valueIn(attributes, MEMORY_LIMIT) ?? Number.NaN) || undefined,
    sampled: ratioOf(valueIn(attributes, SAMPLING_RATIO)),
  };
}

function ratioOf(value: unknown): number {
  return typeof value === 'number' && value > 0 && value < 1 ? value : 1;
}

/** The hosts of sources that say theirs, by the number of the source. */
export function hostsOf(sources: readonly Source[]): Map<number, string> {
  const hosts = new Map<number, string>();
  for (const { number, host } of sources) if (host !== undefined) hosts.set(number, host);
  return hosts;
}

/** Counts the pieces that a trace's budget has deleted; undefined: none. */
export function deletedPieces(pieces: readonly ReadSource[]): Source['deleted'] {
  const { trace } = pieces[0]!;
  const count = trace.format === hephFormat ? predecessorsOf(trace.path) : 0;
  const parts = pieces.flatMap((piece) => piece.parts.map(({ facts }) => facts));
  const first = parts.find(({ rows }) => rows > 0);
  if (count === 0 || first === undefined) return undefined;
  // A stream counts its records from 0.
  const firsts = new Map<number, number>();
  for (const { counts } of parts) {
    for (const { stream, first: number } of counts) {
      if (!firsts.has(stream)) firsts.set(stream, number);
    }
  }
  const records = [...firsts.values()].reduce((sum, number) => sum + number, 0);
  return { pieces: count, records, until: first.firstEnd };
}

/** That pieces are deleted, as a loss. */
export function deletedRecords({ deleted, path }: Pick<Source, 'deleted' | 'path'>): Loss[] {
  if (deleted === undefined) return [];
  const { pieces, records } = deleted;
  const what = counted(pieces, 'earlier piece', 'earlier pieces');
  const are = pieces === 1 ? 'is' : 'are';
  const reason =
    `${what} of ${path} ${are} deleted, with ${counted(records, 'record')} or more: ` +
    'all figures are of what is left';
  return [{ count: records, reason }];
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

/**
 * Lists what a source has lost, in words.
 *
 * @param dropped from {@link droppedRecords}, less what is said here.
 * @param resource which says what the threads are called.
 */
export function lossesOf(
  { losses, ended, end, trace }: Pick<ReadSource, 'losses' | 'ended' | 'end' | 'trace'>,
  parts: readonly PartFacts[],
  dropped: Map<number, number>,
  resource: RecordedResource | undefined,
): Loss[] {
  const all = [...losses, ...missingRecords(parts, dropped, resource)];
  const faulty = parts.reduce((sum, part) => sum + part.faulty, 0);
  if (faulty > 0) {
    const { firstFaulty } = parts.find((part) => part.faulty > 0)!;
    const reason =
      `${counted(faulty, 'record')} of ${trace.path} not as the format says, the first at byte ` +
      `${firstFaulty}: they lack attributes, or are missing`;
    all.push({ count: faulty, reason, isUnreadable: true });
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
  const fault = textIn(resource?.attributes ?? {}, REDACTION_FAULT);
  if (fault === undefined) return [];
  return [{ count: undefined, reason: `no paths recorded: ${fault}` }];
}

/** Records that have found the rings of their threads full, by the stream of the thread. */
export function droppedRecords(recorded: readonly RecordedLosses[]): Map<number, number> {
  const dropped = new Map<number, number>();
  for (const { stream, dropped: count } of recorded) {
    dropped.set(stream, (dropped.get(stream) ?? 0) + count);
  }
  return dropped;
}

/** Losses that threads have recorded, and that no counter shows. */
export function recordedLosses(recorded: readonly RecordedLosses[]): Loss[] {
  const all: Loss[] = [];
  const open = recorded.reduce((sum, each) => sum + each.open, 0);
  const texts = recorded.reduce((sum, each) => sum + each.texts, 0);
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

/** Of gaps that no record of losses explains. */
const CAUSES = 'the ring was full, they were lost on the way, or a part of the file is gone';

/** Gaps in the counters of streams. */
function missingRecords(
  parts: readonly PartFacts[],
  dropped: Map<number, number>,
  resource: RecordedResource | undefined,
): Loss[] {
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
  const shown: Loss[] = [];
  const say = (whose: string, missing: number, full: number): void => {
    const records = (count: number): string => `${counted(count, 'record')} of ${whose} missing`;
    if (full > 0) shown.push({ count: full, reason: `${records(full)}: the ring was full` });
    const rest = missing - full;
    if (rest > 0) shown.push({ count: rest, reason: `${records(rest)}, cause unknown: ${CAUSES}` });
  };
  let further = 0;
  let furtherFull = 0;
  for (const [i, [stream, { missing }]] of losing.entries()) {
    const full = Math.min(missing, dropped.get(stream) ?? 0);
    dropped.set(stream, (dropped.get(stream) ?? 0) - full);
    if (i < MAX_STREAMS) {
      const name = threadName({ name: nameOfStream(stream), thread: stream }, resource);
      say(stream === 0 ? 'the main thread' : name, missing, full);
    } else {
      further += missing;
      furtherFull += full;
    }
  }
  say('further threads', further, furtherFull);
  return shown;
}
