import { countText, durationText, shareText, timeText } from './units.js';
import type { LongStall, NamedCount, ThreadOfProcess } from './thread-shape.js';
import type { SlowTrace } from './trace-shape.js';

/** `of shop, thread main` */
export function threadText({ service, pid, thread }: ThreadOfProcess): string {
  const process = service ?? (pid === null ? undefined : `process ${pid}`);
  return `${process === undefined ? 'of' : `of ${process},`} thread ${thread}`;
}

/** What the causes of docs/event-loop.md mean. */
const CAUSES = new Map([
  ['code', 'the thread ran'],
  ['wait', 'the thread slept'],
  ['held', 'no CPU was free'],
  ['stop', 'the process was stopped'],
]);

/** Why a loop was blocked: `held (no CPU was free), at the start of the process`; empty: not recorded. */
export function causeText({ cause, atStart }: LongStall): string {
  const meaning = cause === null ? undefined : CAUSES.get(cause);
  const texts = [
    ...(cause === null ? [] : [meaning === undefined ? cause : `${cause} (${meaning})`]),
    ...(atStart ? ['at the start of the process'] : []),
  ];
  return texts.join(', ');
}

/** `GET /orders/:id (12 times), GET /cart` */
export function countsText(names: readonly NamedCount[]): string {
  return names
    .map(({ name, count }) => (count === 1 ? name : `${name} (${countText(count)} times)`))
    .join(', ');
}

/** How much of a trace lay within stalls and collections; undefined: nothing. */
export function interruptedText({ duration, stalls, collections }: SlowTrace): string | undefined {
  const parts = [
    { time: stalls, what: 'while the event loop was blocked' },
    { time: collections, what: 'in garbage collections' },
  ].filter(({ time }) => time > 0);
  if (parts.length === 0) return undefined;
  const texts = parts.map(
    ({ time, what }) => `${durationText(time)} (${shareText(time / duration)}) ${what}`,
  );
  return `of this, ${texts.join(' and ')}`;
}

/** What has delayed a trace; undefined: that was not asked for. */
export function delayedText({ delayedBy }: SlowTrace): string | undefined {
  if (delayedBy === null) return undefined;
  const { name, start, duration } = delayedBy;
  const what = `${durationText(duration)} from ${timeText(start)}`;
  return `met ${JSON.stringify(name)} ${threadText(delayedBy)}: ${what}`;
}
