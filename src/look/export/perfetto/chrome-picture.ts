import { nanosecondsOf } from '../../../core/chrome-event.js';
import type { ChromeEvent } from '../../../core/chrome-event.js';
import { runOf } from '../../../traces/run-directory.js';
import type { Placement } from '../../../traces/time-line.js';
import type { JobOptions } from '../../../traces/trace-format.js';
import type { Picture, PictureProcess, PictureThread } from './picture.js';
import { INSTANT, SLICE_BEGIN } from './schema.js';

const DEFAULT_CATEGORY = 'event';
/** Counters of the register hook count things. */
const COUNTER_UNIT = 'count';

/** What is known of a process of the trace before its first event is drawn. */
interface Part {
  name: string;
  labels: string[];
  process: PictureProcess | undefined;
  threadNames: Map<number, string>;
  threads: Map<number, PictureThread>;
}

/** Draws the states, marks, counters and events that a format yields as Chrome's events. */
class ChromePicture {
  readonly #picture: Picture;
  readonly #placement: Placement;
  readonly #parts = new Map<number, Part>();

  constructor(picture: Picture, placement: Placement) {
    this.#picture = picture;
    this.#placement = placement;
  }

  draw(event: ChromeEvent, accepts: (start: number, end: number) => boolean): void {
    const part = this.#part(event.pid);
    const { ph, args = {} } = event;
    if (ph === 'M') {
      const name = String(args['name']);
      if (event.name === 'process_name') part.name = name;
      else if (event.name === 'thread_name') part.threadNames.set(event.tid, name);
      else if (event.name === 'process_labels' && this.#placement.label === undefined) {
        part.labels.push(String(args['labels']));
      }
      return;
    }
    const start = nanosecondsOf(event.ts) + this.#placement.shift;
    const end = start + nanosecondsOf(event.dur ?? 0);
    if (!accepts(start, end)) return;
    const { writer } = this.#picture;
    if (ph === 'C') {
      const track = this.#process(part, event.pid).counter(event.name, COUNTER_UNIT);
      writer.counter(track, start, Number(args['value']));
      return;
    }
    const thread = this.#thread(part, event);
    // An instant lies on a slice of the thread, if there is one.
    const track = ph === 'X' ? thread.place(start, end) : thread.track;
    const type = ph === 'X' ? SLICE_BEGIN : INSTANT;
    writer.beginEvent(type, track, start, event.name, event.cat ?? DEFAULT_CATEGORY);
    for (const name in args) writer.annotate(name, args[name]);
    writer.endEvent();
    if (ph === 'X') writer.endSlice(track, end);
  }

  #part(pid: number): Part {
    let part = this.#parts.get(pid);
    if (part === undefined) {
      const { label } = this.#placement;
      part = {
        name: `process ${pid}`,
        labels: label === undefined ? [] : [label],
        process: undefined,
        threadNames: new Map(),
        threads: new Map(),
      };
      this.#parts.set(pid, part);
    }
    return part;
  }

  #process(part: Part, pid: number): PictureProcess {
    const { path } = this.#placement.trace;
    const key = `${pid} ${runOf(path) ?? path}`;
    part.process ??= this.#picture.process(key, pid, part.name, part.labels);
    return part.process;
  }

  #thread(part: Part, { pid, tid }: ChromeEvent): PictureThread {
    let thread = part.threads.get(tid);
    if (thread === undefined) {
      const name = part.threadNames.get(tid) ?? `thread ${tid}`;
      // Pieces of a trace have the same threads under the same names.
      const key = `${this.#placement.trace.format.name} ${tid} ${name}`;
      thread = this.#process(part, pid).thread(key, tid, name);
      part.threads.set(tid, thread);
    }
    return thread;
  }
}

/**
 * Draws a trace of ovni or Laplace.
 *
 * @param accepts whether something is drawn, by its times since the zero of the picture.
 */
export function* drawChromeEvents(
  picture: Picture,
  placement: Placement,
  accepts: (start: number, end: number) => boolean,
  options: JobOptions,
): Generator<Buffer, void> {
  const drawing = new ChromePicture(picture, placement);
  const { format, path } = placement.trace;
  const { writer } = picture;
  for (const event of format.chromeEvents(path, options)) {
    drawing.draw(event, accepts);
    if (writer.isFull) yield writer.take();
  }
}
