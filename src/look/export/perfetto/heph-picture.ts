import { dirname, join } from 'node:path';
import { nameOfTrace } from '../../../heph/file-names.js';
import { DEFINITION_STREAM } from '../../../heph/layout.js';
import type { EventPacket } from '../../../heph/packet.js';
import type { OnFault } from '../../../core/fault.js';
import type { Progress } from '../../../core/finding.js';
import type { RowTest } from '../../condition/span-condition.js';
import { isLoopRecord } from '../../../spans/read/loop-curves.js';
import { processIdOf } from '../../../spans/read/process-id.js';
import { SpanWalk } from '../../../spans/read/span-walk.js';
import type { SpanRecord } from '../../../spans/span-record.js';
import { pidOfFile, runOf } from '../../../traces/run-directory.js';
import { SpanInterpretation } from '../span-interpretation.js';
import { drawLoopRecord } from './loop-counters.js';
import type { Picture, PictureProcess, PictureThread } from './picture.js';
import { INSTANT, SLICE_BEGIN } from './schema.js';
import { GroupedSpans } from './span-groups.js';
import type { SpanFlows } from './span-flows.js';
import type { SpanSurvey } from '../span-survey.js';

const DEFAULT_PID = 1;
const CATEGORY = 'heph';

/** A Heph file in the picture. */
export interface HephSource {
  path: string;
  survey: SpanSurvey;
  /** The time of the trace that is the zero of the picture. */
  zero: bigint;
  /** About the time line of the process, if there is something to say. */
  label: string | undefined;
}

/** The key of the process that wrote a file: the same for all pieces of a trace. */
function processKey(path: string, pid: number): string {
  return `${pid} ${runOf(path) ?? join(dirname(path), nameOfTrace(path))}`;
}

/** Draws the spans and the other events of Heph files. */
export class HephPicture {
  readonly #picture: Picture;
  readonly #accepts: ((span: SpanRecord) => boolean) | undefined;
  /** Whether plain events are drawn; times are those since the zero of the picture. */
  readonly #acceptsPlain: RowTest;
  readonly #spans: GroupedSpans;

  constructor(
    picture: Picture,
    flows: SpanFlows,
    accepts: ((span: SpanRecord) => boolean) | undefined,
    acceptsPlain: RowTest,
  ) {
    this.#picture = picture;
    this.#accepts = accepts;
    this.#acceptsPlain = acceptsPlain;
    this.#spans = new GroupedSpans(picture.writer, flows);
  }

  /** Draws a file. Spans whose local root has not ended may be drawn later. */
  *draw(
    source: HephSource,
    onProgress: Progress | undefined,
    onFault: OnFault | undefined,
  ): Generator<Buffer, void> {
    const { path, survey, zero } = source;
    const { writer } = this.#picture;
    const pid = processIdOf(survey.resource) ?? pidOfFile(path) ?? DEFAULT_PID;
    const service = survey.resource?.attributes['service.name'];
    const process = this.#picture.process(
      processKey(path, pid),
      pid,
      typeof service === 'string' ? service : `Heph ${path}`,
      source.label === undefined ? [] : [source.label],
    );
    const interpretation = new SpanInterpretation(path);
    const threads = new Map<number, PictureThread>();
    const walk = new SpanWalk(path, { onFault, ...(onProgress && { onProgress }) });
    try {
      while (walk.next()) {
        const { span } = walk;
        if (span === undefined) {
          const packet = walk.plainEvent();
          if (packet === undefined || packet.stream === DEFINITION_STREAM) continue;
          this.#plain(process, packet, interpretation.nameOf(packet), walk.epoch - zero);
        } else if (this.#accepts?.(span) !== false) {
          let thread = threads.get(span.thread);
          if (thread === undefined) {
            thread = threadOf(process, span.thread);
            threads.set(span.thread, thread);
          }
          this.#spans.add(thread, span, zero, walk.bytes);
        }
        if (writer.isFull) yield writer.take();
      }
    } finally {
      walk.close();
    }
  }

  /** Draws what is left. */
  *end(): Generator<Buffer, void> {
    yield* this.#spans.end();
  }

  /** An event without ids. Those of each substream have lanes of their own. */
  #plain(process: PictureProcess, event: EventPacket, name: string, shift: bigint): void {
    const { writer } = this.#picture;
    const { stream, substream, attributes } = event;
    const start = Number(event.start + shift);
    const end = Math.max(start, Number(event.end + shift));
    const values = (): Record<string, unknown> =>
      Object.fromEntries(attributes.map(({ name: each, value }) => [each, value]));
    if (!this.#acceptsPlain(start, end, name, values)) return;
    if (isLoopRecord(event)) {
      drawLoopRecord(writer, process, nameOf(stream), event, start, end);
      return;
    }
    const thread = threadOf(process, stream);
    const isInstant = event.start === event.end;
    const track = thread.place(start, end);
    writer.beginEvent(isInstant ? INSTANT : SLICE_BEGIN, track, start, name, CATEGORY);
    for (const attribute of attributes) writer.annotate(attribute.name, attribute.value);
    if (substream !== 0n) writer.annotate('substream', substream);
    if (event.end < event.start) {
      writer.annotate('ends before its start by (ns)', event.start - event.end);
    }
    writer.endEvent();
    if (!isInstant) writer.endSlice(track, end);
  }
}

/** Stream 0 is the main thread, also for viewers: its number is that of the process. */
function threadOf(process: PictureProcess, stream: number): PictureThread {
  const tid = stream === 0 ? process.pid : stream;
  return process.thread(`heph ${stream}`, tid, nameOf(stream));
}

function nameOf(stream: number): string {
  return stream === 0 ? 'main' : `thread ${stream}`;
}
