import { DONE, DURATION, KIND, SLOT, WORD } from '../../core/ring/waiting-ring.js';
import { BELOW } from '../span.js';
import type { Span } from '../span.js';
import { OWN_FLAGS, PARENT_REMOTE, RESOURCE_SHIFT } from '../layout.js';
import type { DecidedElsewhere } from './elsewhere.js';
import { FAILED_BIT } from './span-flags.js';
import type { WaitingTraces } from './waiting-traces.js';

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
  const { times, words } = traces.ring.shared;
  const { end: endSlot, release: releaseSlot } = traces.ring.calls;
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
    return span.traceState === '' && elsewhere.isAlone(isRemote);
  };
  const release = (span: Span, kind: number): boolean => {
    words[SLOT] = span.slot;
    words[WORD] = span.flags;
    words[KIND] = kind;
    releaseSlot();
    if (words[SLOT] !== DONE) return false;
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
      if (!output.takesAnything || span.start >= output.nextLook) return false;
      words[SLOT] = span.slot;
      words[WORD] = (flags & OWN_FLAGS) | (output.resource << RESOURCE_SHIFT);
      endSlot();
      if (words[SLOT] !== DONE) return false;
      forget(span);
      return true;
    },
  };
}
