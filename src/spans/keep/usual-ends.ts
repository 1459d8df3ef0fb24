import { BELOW } from '../span.js';
import type { Span } from '../span.js';
import { OWN_FLAGS, RESOURCE_SHIFT, STATUS_ERROR, STATUS_SHIFT } from '../layout.js';
import type { ReleasedFigures } from './released-figures.js';
import { DONE } from './waiting-traces.js';
import type { WaitingTraces } from './waiting-traces.js';

/** Of `call`: what a native call is about, and whether it has done it; see native/ring/waiting_index.h. */
const SLOT = 0;
const BYTES = 1;
const WORD = 2;
const KIND = 3;
/** Of `times`, in nanoseconds. */
const LIMIT = 0;
const DURATION = 1;
const NOW = 2;

/** Of a span that has not failed, below another one of its output. */
const FAILED = STATUS_ERROR << STATUS_SHIFT;

/** What the ends of waiting spans need of the output of their thread. */
export interface KeptSpans {
  /** The number of the resource; 0: it could not be defined. */
  readonly resource: number;
  /** Whether every attribute is recorded as it is. */
  readonly takesAnything: boolean;
  /** Of `span.start`: when the clocks are looked at again. */
  readonly nextLook: number;
}

/** Ends of spans of which all is in their slots. Native code does what `WaitingOutput` does, in a fifth of the time. */
export interface UsualSpanEnds {
  /** Ends a span below the local root of an undecided trace; false: it is as it was, and ends otherwise. */
  below(span: Span): boolean;
  /**
   * Releases the trace of its only local root, unless that took longer than `limit` nanoseconds.
   *
   * @returns how long it took; -1: nothing has changed.
   */
  release(span: Span, figures: ReleasedFigures, limit: number): number;
  /** Nanoseconds of the trace at the last `release`. */
  lastEnd(): number;
}

// Functions, not methods: to optimised code the arrays that they close over are constants.
export function usualSpanEnds(output: KeptSpans, traces: WaitingTraces): UsualSpanEnds {
  const { call, ring, times } = traces;
  const { capacity } = ring;
  const end = traces.ends?.end;
  const release = traces.ends?.release;
  const forget = (span: Span): void => {
    span.slot = -1;
    span.heldBytes = 0;
    span.heldNames = undefined;
    span.own = undefined;
  };
  return {
    lastEnd: () => times[NOW]!,
    below(span) {
      const length = span.heldBytes;
      if (length === 0 || (span.flags & (BELOW | FAILED)) !== BELOW) return false;
      if (end === undefined || span.extras !== undefined || !output.takesAnything) return false;
      if (ring.free < length || span.start >= output.nextLook) return false;
      call[SLOT] = span.slot;
      call[BYTES] = length;
      call[WORD] = (span.flags & OWN_FLAGS) | (output.resource << RESOURCE_SHIFT);
      call[DONE] = 0;
      end();
      if (call[DONE] === 0) return false;
      ring.free -= length;
      const next = ring.position + length;
      ring.position = next >= capacity ? next - capacity : next;
      forget(span);
      return true;
    },
    release(span, figures, limit) {
      if (span.heldBytes === 0 || release === undefined) return -1;
      call[SLOT] = span.slot;
      call[KIND] = figures.number;
      call[DONE] = 0;
      times[LIMIT] = limit;
      release();
      if (call[DONE] === 0) return -1;
      forget(span);
      span.extras = undefined;
      return times[DURATION]!;
    },
  };
}
