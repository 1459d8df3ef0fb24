import { KIND_MASK, KIND_SHIFT, STATUS_ERROR, STATUS_MASK, STATUS_SHIFT } from '../layout.js';

/** Of the flags of a span. */
export function hasFailed(flags: number): boolean {
  return ((flags >> STATUS_SHIFT) & STATUS_MASK) === STATUS_ERROR;
}

/** The number of its kind in the layout. */
export function kindOf(flags: number): number {
  return (flags >> KIND_SHIFT) & KIND_MASK;
}
