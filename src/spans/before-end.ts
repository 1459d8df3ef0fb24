import type { Instant } from './time.js';

/** Called with a span that is about to end. Returns false if it is ending already. */
type BeforeEnd = (span: object, endTime: Instant | undefined) => boolean;

/** None in most programs: then it costs one comparison a span. In a file that no span's type needs. */
export let beforeEnd: BeforeEnd | undefined;

export function callBeforeEnd(by: BeforeEnd | undefined): void {
  beforeEnd = by;
}
