import { counted } from '../../core/counted.js';
import type { OpenSpan, OpenSpans } from './report-shape.js';
import { nameWithPath, nameWithTarget } from './request-name.js';

/** `GET /orders/:id`, `GET /orders/42` without a route, `GET stock:8080` */
export function openName(span: OpenSpan): string {
  return span.target === null ? nameWithPath(span) : nameWithTarget(span);
}

/** `8 spans, 4 of them requests` */
export function openText({ count, requests }: Pick<OpenSpans, 'count' | 'requests'>): string {
  const all = counted(count, 'span');
  if (requests === 0) return all;
  if (requests === count) return counted(requests, 'request');
  return `${all}, ${counted(requests, 'of them a request', 'of them requests')}`;
}
