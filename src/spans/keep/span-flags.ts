import { KIND_MASK, KIND_SHIFT, STATUS_ERROR, STATUS_SHIFT } from '../layout.js';

/** Of the flags of a span: no other status has this bit. */
export const FAILED_BIT = STATUS_ERROR << STATUS_SHIFT;

export function hasFailed(flags: number): boolean {
  return (flags & FAILED_BIT) !== 0;
}

/** The number of its kind in the layout. */
export function kindOf(flags: number): number {
  return (flags >> KIND_SHIFT) & KIND_MASK;
}

/** Between the slots of names of one length that differ in their kinds. */
export const KIND_STRIDE = 13;

/** A map for each kind. */
export function mapsOfKinds<T>(): Map<string, T>[] {
  return Array.from({ length: KIND_MASK + 1 }, () => new Map<string, T>());
}
