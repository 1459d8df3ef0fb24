import { shared } from '../core/process-state.js';
import type { Stream } from '../heph/write/stream.js';

/** Opens the stream of the calling thread. */
export type OpenStream = () => Stream;

/** Where the register hook has the spans of this thread go. */
interface HookSpans {
  open: OpenStream | undefined;
  /** Whether the hook's requests have context. */
  hasContext: boolean;
  /** Of what records spans, once that is loaded. */
  arrived: ((open: OpenStream) => void) | undefined;
  /** Of the hook, once the spans of this thread have their target. */
  opened: (() => void) | undefined;
}

/** Known to all copies of the package. The hook may come before spans are loaded, or after. */
export const hookSpans = shared<HookSpans>('spans.hook', () => ({
  open: undefined,
  hasContext: true,
  arrived: undefined,
  opened: undefined,
}));

/** Has the register hook's trace take the spans of this thread, from the first one on. */
export function recordUnderHook(open: OpenStream, hasContext: boolean): void {
  hookSpans.open = open;
  hookSpans.hasContext = hasContext;
  hookSpans.arrived?.(open);
}
