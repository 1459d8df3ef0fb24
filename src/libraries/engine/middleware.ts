import type { Span } from '../../spans/span.js';

/** Whether a span is of a function that is not for a route. */
export function isMiddleware({ name }: Span): boolean {
  return name.startsWith('middleware');
}
