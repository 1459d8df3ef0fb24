import { context, trace } from '@opentelemetry/api';
import type { Span } from '@opentelemetry/api';
import { register } from '../../src/otel/index.js';
import { recorded } from '../spans/span-trace.js';
import type { SpanOptions } from '../../src/spans/recording.js';
import type { SpanRecord } from '../../src/spans/span-record.js';
import { temporaryDirectory } from '../heph/temporary-file.js';

const directory = temporaryDirectory();

/** What tests of this folder share: the API records with tracewright/spans. */
export const registration = register();

export const tracer = trace.getTracer('tests', '1.0');

/** The spans that `record` leaves, in the order of their ends. */
export function spansOf(record: () => unknown, options?: SpanOptions): Promise<SpanRecord[]> {
  return recorded(directory, record, options);
}

/** The one span that is left by what is done with a span before it ends. */
export async function spanOf(use: (span: Span) => unknown, name = 'span'): Promise<SpanRecord> {
  const spans = await spansOf(() => {
    const span = tracer.startSpan(name);
    use(span);
    span.end();
  });
  const found = spans.find((span) => span.name !== 'other');
  if (found === undefined) throw new Error('no span was recorded');
  return found;
}

/** Calls `fn` while a span is active, as instrumentations do. */
export function withActive<Result>(span: Span, fn: () => Result): Result {
  return context.with(trace.setSpan(context.active(), span), fn);
}
