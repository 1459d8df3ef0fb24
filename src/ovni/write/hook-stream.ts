import { shared } from '../../core/process-state.js';

/** Calls of the register hook for the stream of a thread that it has begun. */
interface HookStream {
  /** The thread sleeps, and has nothing to do. False: it is not running. */
  pause: () => boolean;
  resume: () => void;
  /** The thread ends. */
  complete: () => void;
}

/** The stream of the calling thread under the register hook, for all copies of the package there. */
export const hookStream = shared(
  'ovni.hook',
  (): {
    /** Begins it, if it can; undefined without the hook, and once it has begun. */
    begin: (() => void) | undefined;
    begun: HookStream | undefined;
  } => ({ begin: undefined, begun: undefined }),
);
