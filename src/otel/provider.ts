import type { Tracer, TracerOptions, TracerProvider } from '@opentelemetry/api';
import { wrongType } from '../core/errors.js';
import { ownOptions } from '../core/options/argument.js';
import { takeElements } from '../core/taken-elements.js';
import { spans } from '../spans/shared-spans.js';
import { addOwn } from './api-globals.js';
import { installApi } from './install-api.js';
import { DEFAULT_TIMEOUT_MS, timeoutFrom } from './processor-timeout.js';
import type { FlushOptions } from './processor-timeout.js';
import type { SpanSampler } from './sampler.js';
import { processors } from './span-processors.js';
import type { SpanProcessor } from './span-processors.js';
import type { TracerPolicy } from './tracer.js';
import { countWrongArgument, wrongArguments } from './wrong-arguments.js';
import { Scope } from '../spans/scope.js';
import { TracewrightTracer } from './tracer.js';
import { shared } from '../core/process-state.js';

/** Tracers that are kept. Programs have some dozens; one that makes names up must not fill the memory. */
const MOST_TRACERS = 1000;

/** The tracers of a provider: one for each library, version and schema. */
class ScopeTracers {
  readonly #policy: TracerPolicy;
  readonly #tracers = new Map<string, TracewrightTracer>();

  constructor(policy: TracerPolicy) {
    this.#policy = policy;
  }

  tracerOf(name: string, version: string, schemaUrl: string): TracewrightTracer {
    const key = `${name}\n${version}\n${schemaUrl}`;
    const known = this.#tracers.get(key);
    if (known !== undefined) return known;
    const tracer = new TracewrightTracer(new Scope(name, version, schemaUrl), this.#policy);
    if (this.#tracers.size < MOST_TRACERS) this.#tracers.set(key, tracer);
    return tracer;
  }
}

/** Options of a provider. */
export interface ProviderOptions {
  /** Decides about the spans of tracers, instead of `sample` of `configure` and its variables. */
  sampler?: SpanSampler;
  /**
   * They get the spans of this thread, in addition to the trace: those of tracers, of tracewright/spans and of the
   * register hook. Without processors nothing is spent on them.
   */
  spanProcessors?: readonly SpanProcessor[];
  /**
   * Milliseconds that `forceFlush` and `shutdown` wait for the processors, 1 to 2,147,483,647. Default: 30,000.
   */
  forceFlushTimeoutMillis?: number;
}

export const PROVIDER_OPTIONS = ['sampler', 'spanProcessors', 'forceFlushTimeoutMillis'] as const;

/** Counts of what went wrong so far. */
export interface ProviderStats {
  /** Arguments of calls to the API that were ignored in this thread, because they were wrong. */
  readonly wrongArguments: number;
}

function textOf(given: unknown): string {
  if (typeof given === 'string') return given;
  if (given !== undefined && given !== null) countWrongArgument();
  return '';
}

function checkedSampler(given: unknown): SpanSampler {
  const { shouldSample } = (given ?? {}) as Partial<SpanSampler>;
  if (typeof shouldSample === 'function') return given as SpanSampler;
  throw wrongType('sampler', given, 'an object with shouldSample');
}

const MOST_PROCESSORS = 1000;

function checkProcessors(given: unknown): SpanProcessor[] {
  const limit = 'a list of objects with onStart, onEnd, forceFlush and shutdown';
  return takeElements('spanProcessors', given, MOST_PROCESSORS, limit).map((each) => {
    const { onStart, onEnd, forceFlush, shutdown } = (each ?? {}) as Partial<SpanProcessor>;
    const methods: unknown[] = [onStart, onEnd, forceFlush, shutdown];
    if (methods.every((method) => typeof method === 'function')) return each as SpanProcessor;
    throw wrongType('spanProcessors', each, limit);
  });
}

function givenTimeout(options: FlushOptions = {}): unknown {
  return ownOptions(options, ['timeoutMillis']).timeoutMillis;
}

/** Gives the OpenTelemetry API tracers whose spans are those of tracewright/spans. */
export class TracewrightProvider implements TracerProvider {
  readonly #policy: TracerPolicy = { sampler: undefined };
  readonly #tracers: ScopeTracers;
  readonly #processors = new Set<SpanProcessor>();
  #timeoutMs = DEFAULT_TIMEOUT_MS;

  /** @throws TracewrightError that names an unknown option, or a wrong one. */
  constructor(options: ProviderOptions = {}) {
    const given = ownOptions(options, PROVIDER_OPTIONS);
    installApi();
    addOwn(this);
    this.#tracers = new ScopeTracers(this.#policy);
    this.change(given);
  }

  /** The tracer of a library: the same one for the same name, version and schema URL, of which 1,000 are kept. */
  getTracer(name: string, version?: string, options?: TracerOptions): Tracer {
    let schemaUrl: unknown;
    try {
      schemaUrl = options?.schemaUrl;
    } catch {
      countWrongArgument();
    }
    return this.#tracers.tracerOf(textOf(name), textOf(version), textOf(schemaUrl));
  }

  /** @internal Sets the options that are named. */
  change({ sampler, spanProcessors, forceFlushTimeoutMillis }: ProviderOptions): void {
    this.#timeoutMs = timeoutFrom(forceFlushTimeoutMillis, this.#timeoutMs);
    if (sampler !== undefined) this.#policy.sampler = checkedSampler(sampler);
    if (spanProcessors === undefined) return;
    const added = checkProcessors(spanProcessors);
    for (const processor of added) this.#processors.add(processor);
    processors.add(added);
  }

  /** Counts of this thread since its start. */
  stats(): ProviderStats {
    return { wrongArguments: wrongArguments() };
  }

  /**
   * Resolves once the spans that this thread has ended are in the file, or have been handed to the network, and the
   * processors have flushed theirs.
   *
   * @throws TracewrightError `ERR_TIMEOUT` when the processors, or the target, take too long; and what a processor
   *   throws.
   */
  async forceFlush(options?: FlushOptions): Promise<void> {
    const timeoutMs = timeoutFrom(givenTimeout(options), this.#timeoutMs);
    await Promise.all([spans.flush(), processors.forceFlush(this.#processors, timeoutMs)]);
  }

  /**
   * Flushes, shuts the processors down, and ends the recording of this thread's spans. Under the register hook that
   * goes on.
   *
   * @throws TracewrightError as `forceFlush`.
   */
  async shutdown(options?: FlushOptions): Promise<void> {
    const timeoutMs = timeoutFrom(givenTimeout(options), this.#timeoutMs);
    await Promise.all([spans.shutdown(), processors.shutdown(this.#processors, timeoutMs)]);
  }
}

/** The provider of `register`, or of the hook, that serves the API: one for all copies of this package in the thread. */
export const registered = shared<{ provider: TracewrightProvider | undefined }>(
  'otel.registered',
  () => ({ provider: undefined }),
);
