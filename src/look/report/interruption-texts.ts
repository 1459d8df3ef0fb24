import { countText } from './units.js';
import type { LongStall, NamedCount, ThreadPlace } from './report-shape.js';

/** `of shop, thread main` */
export function placeText({ service, pid, thread }: ThreadPlace): string {
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
