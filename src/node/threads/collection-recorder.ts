import { version } from '../../core/version.js';
import { Scope } from '../../spans/scope.js';
import { spans } from '../../spans/shared-spans.js';
import type { ThreadSpans } from '../../spans/thread-spans.js';
import { INCREMENTAL, MAJOR, MINOR, MINOR_MARK_SWEEP, WEAK_CALLBACKS } from './pauses.js';
import type { Collection } from './pauses.js';

/** OpenTelemetry's name of the attribute, and its values. */
const TYPE = 'v8js.gc.type';
const TYPES: ReadonlyMap<number, string> = new Map([
  [MINOR, 'minor'],
  [MINOR_MARK_SWEEP, 'minor'],
  [MAJOR, 'major'],
  [INCREMENTAL, 'incremental'],
  [WEAK_CALLBACKS, 'weakcb'],
]);

const SCOPE = new Scope('tracewright/gc', version);

/** Records garbage collections of the calling thread as spans. */
export class CollectionRecorder {
  #spans: ThreadSpans | undefined;

  record({ from, to, kind }: Collection): void {
    this.#spans ??= spans.openThreadSpans(SCOPE);
    const type = TYPES.get(kind) ?? String(kind);
    this.#spans?.record(`gc ${type}`, { [TYPE]: type }, from, to);
  }
}
