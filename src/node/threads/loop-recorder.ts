import { version } from '../../core/version.js';
import { Scope } from '../../spans/scope.js';
import { spans } from '../../spans/shared-spans.js';
import type { ThreadSpans } from '../../spans/thread-spans.js';
import type { ProcessPlan } from '../run/process-plan.js';
import type { Stall } from './stall.js';

const NAME = 'event loop blocked';
const CAUSE = 'eventloop.cause';
const CPU = 'eventloop.cpu_ms';
const OPEN_SPANS = 'eventloop.open_spans';

/** Why a loop did not turn, in the order of StallCause in native/loop/loop_watch.h. */
const CAUSES = ['code', 'wait', 'held', 'stop'] as const;
const WAIT = 1;
const DEBUGGER = 'debugger';

const SCOPE = new Scope('tracewright/event-loop', version);

/** A thread that sleeps while its inspector is open may be at a breakpoint. */
function isInspected(): boolean {
  return process.getBuiltinModule('node:inspector').url() !== undefined;
}

/** Records what kept the event loop of the calling thread from turning. */
export class LoopRecorder {
  readonly #hasSpans: boolean;
  #spans: ThreadSpans | undefined;

  constructor(plan: ProcessPlan) {
    this.#hasSpans = plan.heph !== undefined;
    this.#prepare();
  }

  /** A stall has ended. */
  record({ from, to, cpu, cause, recorded }: Stall): void {
    const by = cause === WAIT && isInspected() ? DEBUGGER : CAUSES[cause]!;
    const output = this.#threadSpans();
    if (output === undefined) return;
    const attributes = { [CAUSE]: by, [CPU]: cpu / 1e6, [OPEN_SPANS]: output.openSpans };
    if (!recorded) {
      output.record(NAME, attributes, from, to);
      return;
    }
    output.recordStall(NAME, attributes, from, to);
    this.#prepare();
  }

  /** For a stall that never ends. */
  #prepare(): void {
    this.#threadSpans()?.prepareStall(NAME, { attribute: CAUSE, texts: CAUSES });
  }

  #threadSpans(): ThreadSpans | undefined {
    if (this.#hasSpans) this.#spans ??= spans.openThreadSpans(SCOPE);
    return this.#spans;
  }
}
