import { countText } from './units.js';
import type { NamedCount, ThreadPlace } from './report-shape.js';

/** `of shop, thread main` */
export function placeText({ service, pid, thread }: ThreadPlace): string {
  const process = service ?? (pid === null ? undefined : `process ${pid}`);
  return `${process === undefined ? 'of' : `of ${process},`} thread ${thread}`;
}

/** `GET /orders/:id (12 times), GET /cart` */
export function countsText(names: readonly NamedCount[]): string {
  return names
    .map(({ name, count }) => (count === 1 ? name : `${name} (${countText(count)} times)`))
    .join(', ');
}
