import { untilFault } from '../../../core/fault.js';
import { callObject, nanosecondsOf } from '../../../dumpi/read/dump.js';
import { CallCursor } from '../../../dumpi/read/reader.js';
import type { CallRecord } from '../../../dumpi/read/reader.js';
import { callFilesOf, isMetafile } from '../../../dumpi/read/run.js';
import { surveyMessages } from '../../../dumpi/read/message-flows.js';
import type { MessageEnd } from '../../../dumpi/read/message-flows.js';
import { readSections } from '../../../dumpi/read/section-reader.js';
import type { Placement } from '../../../traces/time-line.js';
import type { JobOptions } from '../../../traces/trace-format.js';
import type { Picture, PictureProcess } from './picture.js';
import { SLICE_BEGIN } from './schema.js';

const CATEGORY = 'dumpi';
const RANK_IN_NAME = /-(\d{4,10})\.bin$/;
const FIRST_PID = 1;
/** Traced functions of a thread that are open at once. */
const MAX_OPEN = 512;

/** A traced function that has begun. */
interface OpenFunction {
  address: bigint;
  name: string;
  start: number;
}

/** Draws the calls of one rank. */
class RankPicture {
  readonly #picture: Picture;
  readonly #process: PictureProcess;
  readonly #placement: Placement;
  readonly #functionNames: ReadonlyMap<bigint, string>;
  readonly #open = new Map<number, OpenFunction[]>();
  readonly #accepts: (start: number, end: number) => boolean;
  #last = 0;

  constructor(
    picture: Picture,
    process: PictureProcess,
    placement: Placement,
    functionNames: ReadonlyMap<bigint, string>,
    accepts: (start: number, end: number) => boolean,
  ) {
    this.#picture = picture;
    this.#process = process;
    this.#placement = placement;
    this.#functionNames = functionNames;
    this.#accepts = accepts;
  }

  /** @param ends of messages that the call sends or receives. */
  call(call: CallRecord, ends: readonly MessageEnd[]): void {
    const times = call.wall ?? call.cpu;
    if (times === undefined) return;
    const start = this.#timeOf(nanosecondsOf(times.start));
    const end = Math.max(start, this.#timeOf(nanosecondsOf(times.stop)));
    this.#last = Math.max(this.#last, end);
    const thread = call.thread ?? 0;
    if (call.name === 'Function_enter') {
      const address = call.fields.fn;
      const name = this.#functionNames.get(address) ?? `0x${address.toString(16)}`;
      const open = this.#openOf(thread);
      if (open.length < MAX_OPEN) open.push({ address, name, start });
    } else if (call.name === 'Function_exit') {
      const address = call.fields.fn;
      const open = this.#openOf(thread);
      const at = open.findLastIndex((each) => each.address === address);
      if (at === -1) return;
      for (const each of open.splice(at).reverse()) this.#slice(thread, each.name, each.start, end);
    } else {
      const fields = callObject(call)['fields'] as Record<string, unknown>;
      this.#slice(thread, call.name, start, end, fields, ends);
    }
  }

  /** Ends what is open. */
  end(): void {
    for (const [thread, open] of this.#open) {
      for (const { name, start } of open.reverse()) this.#slice(thread, name, start, this.#last);
    }
  }

  /** Nanoseconds since the zero of the picture: exact, though the clock counts from 1970. */
  #timeOf(nanoseconds: bigint): number {
    return Number(nanoseconds + BigInt(this.#placement.shift));
  }

  #openOf(thread: number): OpenFunction[] {
    let open = this.#open.get(thread);
    if (open === undefined) this.#open.set(thread, (open = []));
    return open;
  }

  #slice(
    thread: number,
    name: string,
    start: number,
    end: number,
    fields: Record<string, unknown> = {},
    ends: readonly MessageEnd[] = [],
  ): void {
    if (!this.#accepts(start, end)) return;
    const { writer } = this.#picture;
    const process = this.#process;
    const tid = thread === 0 ? process.pid : thread;
    const track = process
      .thread(`dumpi ${thread}`, tid, thread === 0 ? 'main' : `thread ${thread}`)
      .place(start, end);
    writer.beginEvent(SLICE_BEGIN, track, start, name, CATEGORY);
    for (const { flow } of ends) writer.flow(Number(flow >> 32n), Number(flow & 0xffff_ffffn));
    for (const field in fields) writer.annotate(field, fields[field]);
    writer.endEvent();
    writer.endSlice(track, end);
  }
}

/**
 * Draws a rank's trace, or those of a run: each rank is a process. A message of a run connects the call
 * that sends it with the one that receives it, or asks for it.
 *
 * @param isCut whether `accepts` may refuse calls: a message could have one end then, so none is drawn.
 */
export function* drawRanks(
  picture: Picture,
  placement: Placement,
  accepts: (start: number, end: number) => boolean,
  isCut: boolean,
  { onProgress, onFault }: JobOptions,
): Generator<Buffer, void> {
  const { path } = placement.trace;
  const { writer } = picture;
  const isRun = isMetafile(path);
  const messages = isRun && !isCut ? surveyMessages(path) : undefined;
  let next = 0;
  const drawRank = function* (file: string): Generator<Buffer, void> {
    const named = RANK_IN_NAME.exec(file)?.[1];
    const rank = isRun ? next++ : Number(named ?? 0);
    const sections = readSections(file);
    const isRank = isRun || named !== undefined;
    const pid = FIRST_PID + (rank < 2 ** 30 ? rank : 0);
    const name = isRank ? `MPI rank ${rank}` : `DUMPI ${file}`;
    const process = picture.process(
      `dumpi ${file}`,
      pid,
      name,
      placement.label === undefined ? [] : [placement.label],
    );
    const functionNames = new Map(
      sections.functionNames.map(({ address, name: text }) => [address, text]),
    );
    const drawing = new RankPicture(picture, process, placement, functionNames, accepts);
    const cursor = CallCursor.ofTrace(sections, onProgress === undefined ? {} : { onProgress });
    messages?.begin(rank);
    try {
      for (let call = cursor.next(); call !== undefined; call = cursor.next()) {
        drawing.call(call, messages?.endsOf(call) ?? []);
        if (writer.isFull) yield writer.take();
      }
    } finally {
      cursor.close();
      drawing.end();
    }
  };
  for (const file of untilFault(onFault, path, () => callFilesOf(path))) {
    yield* untilFault(onFault, file, () => drawRank(file));
  }
}
