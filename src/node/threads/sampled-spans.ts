import { learnActiveSpan } from '../../core/native-calls.js';
import { spans } from '../../spans/shared-spans.js';

/** Numbers of a span that none of its other fields has. */
const HIGH = 0x3c5a_0001;
const LOW = 0x3c5a_0002;
const NO_STATE = 0x3c5a_0003;

/**
 * Has each sample of the CPU profile know the span that is active. Where contexts are not kept as from Node 24 on, it
 * knows none.
 */
export function learnSampledSpans(): void {
  const storage = spans.contextStorage();
  if (spans.areInResources()) return;
  // Two objects leave one position for the slot.
  for (let i = 0; i < 2; i++) learnFrom(undefined);
  const { AsyncLocalStorage } = process.getBuiltinModule('node:async_hooks');
  new AsyncLocalStorage().run({}, () => {
    learnFrom(storage);
  });
}

function learnFrom(storage: object | undefined): void {
  const { Span } = spans;
  const span = new Span(undefined, NO_STATE, '', 1, 2, 3, 4, HIGH, LOW, 5, 6, 0, '', undefined);
  spans.runWith(span, () => learnActiveSpan(span, HIGH, LOW, NO_STATE, storage));
}
