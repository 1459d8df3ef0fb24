import { counted } from '../../core/counted.js';
import { countText } from './units.js';
import type { ErrorType, FailedSpans } from './report-shape.js';

/** Title of the types of errors. */
export function errorsTitle({ count, read }: FailedSpans): string {
  const some = read < count ? `; counted in ${countText(read)} of them, taken evenly` : '';
  return `Errors by type: ${counted(count, 'span')} failed${some}`;
}

export function errorTypeText({ type }: ErrorType): string {
  return type ?? 'no error.type';
}
