import { countText } from './units.js';
import type { LongStall, NamedCount, ThreadPlace } from './report-shape.js';

/** `of shop, thread main` */
export function placeText({ service, pid, thread }: ThreadPlace): string {
  const process = service ?? (pid === null ? undefined : `process ${pid}`);
  return `${process === undefined ? 'of' : `of ${process},`} thread ${thread}`;
}

/** Why a loop was blocked: `code, at the start of the process`; empty: not recorded. */
export function causeText({ cause, atStart }: LongStall): string {
  const start = atStart ? ['at the start of the process'] : [];
  return [...(cause === null ? [] : [cause]), ...start].join(', ');
}

/** `GET /orders/:id (12 times), GET /cart` */
export function countsText(names: readonly NamedCount[]): string {
  return names
    .map(({ name, count }) => (count === 1 ? name : `${name} (${countText(count)} times)`))
    .join(', ');
}
