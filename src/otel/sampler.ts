import type { Attributes, Context, Link, TraceState } from '@opentelemetry/api';
import type { ActiveContext } from '../spans/context/active-context.js';
import type { Decision } from '../spans/begin-span.js';
import type { Span } from '../spans/span.js';
import { shownContext } from './api-context.js';
import { attributesOf } from './attributes.js';
import { traceIdOf } from './span-context.js';
import { traceStateText } from './trace-state.js';
import { countWrongArgument } from './wrong-arguments.js';

/** Decision of a sampler about a span. */
export interface SamplerResult {
  /** 0: not recorded; 1: recorded, without the flag for others; 2: recorded, with the flag. */
  readonly decision: number;
  /** Added to the span's own. */
  readonly attributes?: Attributes;
  readonly traceState?: TraceState;
}

/** Decides whether a span is recorded. Samplers of OpenTelemetry's SDK are of this form. */
export interface SpanSampler {
  shouldSample(
    context: Context,
    traceId: string,
    spanName: string,
    spanKind: number,
    attributes: Attributes,
    links: Link[],
  ): SamplerResult;
}

/** Asks a program's sampler about a span. One that throws, or returns no decision, lets the span be recorded. */
export function askSampler(
  sampler: SpanSampler,
  span: Span,
  kind: number,
  active: ActiveContext | undefined,
  links: Link[],
): Decision {
  try {
    const { attributes = {} } = span;
    const result = sampler.shouldSample(
      shownContext(active),
      traceIdOf(span),
      span.name,
      kind,
      attributes as Attributes,
      links,
    );
    applyResult(span, result);
    const { decision } = result;
    if (decision === 0 || decision === 1 || decision === 2) return decision;
  } catch {
    // A sampler breaks no program.
  }
  countWrongArgument();
  return 2;
}

function applyResult(span: Span, { attributes, traceState }: SamplerResult): void {
  const more = attributesOf(attributes);
  if (more !== undefined) span.attributes = { ...span.attributes, ...more };
  if (traceState !== undefined) {
    (span as { traceState: string }).traceState = traceStateText(traceState);
  }
}
