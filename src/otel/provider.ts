import type { Tracer, TracerOptions, TracerProvider } from '@opentelemetry/api';
import { spans } from '../spans/shared-spans.js';
import { installApi } from './install-api.js';
import type { SpanSampler } from './sampler.js';
import { ScopeTracers } from './scope-tracers.js';
import type { TracerPolicy } from './tracer-policy.js';
import { countWrongArgument, wrongArguments } from './wrong-arguments.js';

/** Options of a provider. */
export interface ProviderOptions {
  /** Decides about the spans of tracers, instead of `sample` of `configure` and its variables. */
  sampler?: SpanSampler;
}

/** What went wrong so far. */
export interface ProviderStats {
  /** Arguments of calls to the API that were ignored in this thread, because they were wrong. */
  readonly wrongArguments: number;
}

function textOf(given: unknown): string {
  if (typeof given === 'string') return given;
  if (given !== undefined && given !== null) countWrongArgument();
  return '';
}

/** Gives the OpenTelemetry API tracers whose spans are those of tracewright/spans. */
export class TracewrightProvider implements TracerProvider {
  readonly #policy: TracerPolicy;
  readonly #tracers: ScopeTracers;

  constructor(options: ProviderOptions = {}) {
    installApi();
    this.#policy = { sampler: options.sampler };
    this.#tracers = new ScopeTracers(this.#policy);
  }

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
  change({ sampler }: ProviderOptions): void {
    if (sampler !== undefined) this.#policy.sampler = sampler;
  }

  /** Counts of this thread since its start. */
  stats(): ProviderStats {
    return { wrongArguments: wrongArguments() };
  }

  /** Resolves once the spans that this thread has ended are in the file, or have been handed to the network. */
  async forceFlush(): Promise<void> {
    await spans.flush();
  }

  /** Flushes, and ends the recording of this thread's spans. Under the register hook it only flushes. */
  async shutdown(): Promise<void> {
    await spans.shutdown();
  }
}
