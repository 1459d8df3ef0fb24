import { Scope } from '../spans/scope.js';
import { TracewrightTracer } from './tracer.js';
import type { TracerPolicy } from './tracer-policy.js';

/** Tracers that are kept. Programs have some dozens; one that makes names up must not fill the memory. */
const MOST = 1000;

/** The tracers of a provider: one for each library, version and schema. */
export class ScopeTracers {
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
    if (this.#tracers.size < MOST) this.#tracers.set(key, tracer);
    return tracer;
  }
}
