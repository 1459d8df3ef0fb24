import { countText, durationText, shareText, timeText } from '../measures/units.js';
import { counted } from '../../../core/readable-text.js';
import type {
  Interruptions,
  LongStall,
  NamedCount,
  StallLine,
  ThreadOfProcess,
} from '../shape/thread-shape.js';
import type { ListItem } from './tables/report-table.js';
import { codeText } from '../names/code-text.js';
import type { SlowTrace } from '../shape/trace-shape.js';

/** `of shop, thread main` */
export function threadText({ service, pid, thread }: ThreadOfProcess): string {
  const process = service ?? (pid === null ? undefined : `process ${pid}`);
  return `${process === undefined ? 'of' : `of ${process},`} thread ${thread}`;
}

/** Words for the causes of docs/event-loop.md. */
const CAUSES = new Map([
  ['code', 'the thread ran'],
  ['wait', 'the thread slept'],
  ['held', 'no CPU was free'],
  ['stop', 'the process was stopped'],
]);

/** Of a time without work of the event loop: `at least 223 ms (52 %) on a CPU`. The watch does not know all of it. */
export function cpuText(cpu: number, duration: number): string {
  return `at least ${durationText(cpu)} (${shareText(cpu / duration)}) on a CPU`;
}

/** Why a loop was blocked: `held (no CPU was free), at least 223 ms (52 %) on a CPU`; empty: not recorded. */
export function causeText({ cause, cpu, duration }: LongStall): string {
  if (cause === null) return '';
  const meaning = CAUSES.get(cause);
  const why = meaning === undefined ? cause : `${cause} (${meaning})`;
  return cpu === null ? why : `${why}, ${cpuText(cpu, duration)}`;
}

/** What ran in a stall: its code and whose it was, else spans. */
export function ranText({
  code,
  request,
  ran,
}: Pick<LongStall, 'code' | 'request' | 'ran'>): string {
  const own = request === null ? '' : ` in ${request}`;
  return code === null ? (request ?? countsText(ran)) : `${codeText(code)}${own}`;
}

/** Of a stall before the first request of its process. */
export const AT_START = 'at the start of the process';

/** `GET /orders/:id (12 times), GET /cart` */
export function countsText(names: readonly NamedCount[]): string {
  return names
    .map(({ name, count }) => (count === 1 ? name : `${name} (${countText(count)} times)`))
    .join(', ');
}

/**
 * How much of a trace lay within stalls and collections; undefined: nothing. What it waited for may name those who
 * blocked it: that says it, and is less than the stalls if some of their time counts for others.
 */
export function interruptedText({
  duration,
  stalls,
  collections,
  waitedFor,
}: SlowTrace): string | undefined {
  const isNamed = waitedFor.some(({ kind }) => kind === 'blocked');
  const parts = [
    { time: isNamed ? 0 : stalls, what: 'while the event loop was blocked' },
    { time: collections, what: 'in garbage collections' },
  ].filter(({ time }) => time > 0);
  if (parts.length === 0) return undefined;
  const texts = parts.map(
    ({ time, what }) => `${durationText(time)} (${shareText(time / duration)}) ${what}`,
  );
  return `of this, ${texts.join(' and ')}`;
}

/** Whose code blocked a loop: `GET /search`, `GET /search and 2 others`; null: not recorded. */
export function ranInText({ ranIn: [first, ...others] }: StallLine): string | null {
  if (first === undefined) return null;
  return others.length === 0 ? first.name : `${first.name} and ${counted(others.length, 'other')}`;
}

/** Requests that waited for code, else how many spans: `GET /orders 212, POST /buy 40`, `spans 320`. */
export function delayedOf({ requests, delayed }: StallLine): ListItem[] {
  if (requests.length > 0 || delayed === 0) return requestsOf(requests);
  return [['spans', countText(delayed)]];
}

/** Routes, and how many requests of each: `GET /orders 212, POST /buy 40 unread`. */
export function requestsOf(requests: readonly (NamedCount & { unread?: number })[]): ListItem[] {
  return requests.map(({ name, count, unread }) => [
    name,
    `${countText(count)}${unread === count ? ' unread' : ''}`,
  ]);
}

/** How many stalls there were, whatever their cause. */
export function stallsIn({ stalls }: Pick<Interruptions, 'stalls'>): number {
  return stalls.reduce((sum, { count }) => sum + count, 0);
}

/** `18 of 20 stalls` */
export function stallsText(count: number, interruptions: Pick<Interruptions, 'stalls'>): string {
  const all = stallsIn(interruptions);
  return `${count === all ? '' : `${countText(count)} of `}${counted(all, 'stall')}`;
}

/** Names the stall or collection that delayed a trace; undefined: that was not asked for. */
export function delayedByText({ delayedBy }: SlowTrace): string | undefined {
  if (delayedBy === null) return undefined;
  const { name, start, duration } = delayedBy;
  const what = `${durationText(duration)} from ${timeText(start)}`;
  return `met ${JSON.stringify(name)} ${threadText(delayedBy)}: ${what}`;
}
