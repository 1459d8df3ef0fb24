import { counted } from '../../core/counted.js';
import { countText } from './units.js';
import type { ErrorType, FailedSpans } from './report-shape.js';

/** Title of the types of errors. */
export function errorsTitle({ count, read }: FailedSpans): string {
  const some = read < count ? `; the types are those of ${countText(read)}, taken evenly` : '';
  return `Errors by type: ${counted(count, 'span')} failed${some}`;
}

/** Title of the column of counts. */
export function errorCountTitle({ count, read }: FailedSpans): string {
  return read < count ? `of ${countText(read)}` : 'count';
}

export function errorTypeText({ type }: ErrorType): string {
  return type ?? 'no error.type';
}
