import { BELOW } from '../span.js';
import type { Span } from '../span.js';
import { OWN_FLAGS, PARENT_REMOTE, RESOURCE_SHIFT } from '../layout.js';
import type { DecidedElsewhere } from './elsewhere.js';
import { FAILED_BIT } from './span-flags.js';
import type { WaitingTraces } from './waiting-traces.js';

/** Of `call`: what a native call is about; see native/ring/waiting_index.h. */
const SLOT = 0;
const WORD = 1;
const KIND = 2;
/** A trace of the share of all has at least this in bits of its id. */
export const CHOSEN_FROM = 4;
/** Instead of the slot of a span that has ended: it waits there or is released. */
const DONE = -1;
/** Of `times`, in nanoseconds: from when on no release is usual, and how long a trace took. */
export const UNTIL = 0;
const DURATION = 1;

/** The part of a thread's output that ends of waiting spans use. */
export interface KeptSpans {
  /** The number of the resource; 0: it could not be defined. */
  readonly resource: number;
  /** Whether every attribute is recorded as it is. */
  readonly takesAnything: boolean;
  /** Of `span.start`: when the clocks are looked at again. */
  readonly nextLook: number;
}

/** Ends of spans of which all is in their slots. Native code does what `KeepingOutput` does, in a fifth of the time. */
export interface UsualSpanEnds {
  /**
   * Ends a span below the local root of an undecided trace, or the only local root of one for which nothing speaks.
   * False: it is as it was, and ends otherwise.
   */
  end(span: Span): boolean;
  /** Whether native code may release the trace of a local root, if that was not slow. */
  mayRelease(span: Span): boolean;
  /**
   * Releases the trace of such a local root.
   *
   * @param kind the number of its figures; 0: it is known by its slot.
   * @returns whether it has; otherwise nothing has changed.
   */
  release(span: Span, kind: number): boolean;
  /** Nanoseconds that the root took which was released last. */
  lastDuration(): number;
}

// Functions, not methods: to optimised code the arrays that they close over are constants.
export function usualSpanEnds(
  output: KeptSpans,
  traces: WaitingTraces,
  elsewhere: DecidedElsewhere,
): UsualSpanEnds {
  const { call, times } = traces;
  const endSlot = traces.ends?.end;
  const releaseSlot = traces.ends?.release;
  const forget = (span: Span): void => {
    span.slot = -1;
    span.isWhole = false;
    span.own = undefined;
  };
  const mayRelease = (span: Span): boolean => {
    const { flags } = span;
    if ((flags & (BELOW | FAILED_BIT)) !== 0 || !span.isWhole) return false;
    const isRemote = (flags & PARENT_REMOTE) !== 0;
    if (!isRemote && (span.p0 | span.p1) !== 0) return false;
    return span.traceState === '' && releaseSlot !== undefined && elsewhere.isAlone(isRemote);
  };
  const release = (span: Span, kind: number): boolean => {
    call[SLOT] = span.slot;
    call[WORD] = span.flags;
    call[KIND] = kind;
    releaseSlot!();
    if (call[SLOT] !== DONE) return false;
    forget(span);
    span.extras = undefined;
    return true;
  };
  return {
    mayRelease,
    release,
    lastDuration: () => times[DURATION]!,
    end(span) {
      const { flags } = span;
      if ((flags & BELOW) === 0) return mayRelease(span) && release(span, 0);
      if (!span.isWhole || (flags & FAILED_BIT) !== 0 || span.extras !== undefined) return false;
      if (endSlot === undefined || !output.takesAnything) return false;
      if (span.start >= output.nextLook) return false;
      call[SLOT] = span.slot;
      call[WORD] = (flags & OWN_FLAGS) | (output.resource << RESOURCE_SHIFT);
      endSlot();
      if (call[SLOT] !== DONE) return false;
      forget(span);
      return true;
    },
  };
}
