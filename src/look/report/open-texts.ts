import { counted } from '../../core/counted.js';
import type { OpenSpans } from './report-shape.js';

/** `8 spans, 4 of them requests` */
export function openText({ count, requests }: Pick<OpenSpans, 'count' | 'requests'>): string {
  const all = counted(count, 'span');
  if (requests === 0) return all;
  if (requests === count) return counted(requests, 'request');
  return `${all}, ${counted(requests, 'of them a request', 'of them requests')}`;
}
