import type { Tracer, TracerOptions, TracerProvider } from '@opentelemetry/api';

/** The provider that was registered after ours; undefined while there is none. */
export type Winner = () => TracerProvider | undefined;

type Call = (...values: never[]) => unknown;

const METHODS = ['startSpan', 'startActiveSpan'] as const;

/** Tracers that are followed. Programs have some dozens; one that makes names up must not fill the memory. */
const MOST = 4096;

/**
 * The tracers that a program has got from a provider. Programs keep them, mostly from before their own SDK
 * starts. When it does, they go to its provider: OpenTelemetry's own proxies do the same.
 */
export class RedirectedTracers {
  readonly #provider: TracerProvider;
  readonly #known = new WeakSet<Tracer>();
  readonly #tracers: { tracer: WeakRef<Tracer>; from: Parameters<TracerProvider['getTracer']> }[] =
    [];

  /** @param provider its tracers are followed from now on. */
  constructor(provider: TracerProvider) {
    this.#provider = provider;
    const own = provider.getTracer.bind(provider);
    provider.getTracer = (name: string, version?: string, options?: TracerOptions): Tracer => {
      const tracer = own(name, version, options);
      if (!this.#known.has(tracer) && this.#tracers.length < MOST) {
        this.#known.add(tracer);
        this.#tracers.push({ tracer: new WeakRef(tracer), from: [name, version, options] });
      }
      return tracer;
    };
  }

  /** Sends what the provider and its tracers are asked to `winner`, from the moment on that there is one. */
  redirect(winner: Winner): void {
    const provider = this.#provider;
    const own = provider.getTracer.bind(provider);
    provider.getTracer = (...from) => {
      const other = winner();
      return other === undefined ? own(...from) : other.getTracer(...from);
    };
    for (const { tracer, from } of this.#tracers.splice(0)) {
      const kept = tracer.deref();
      if (kept !== undefined) redirectTracer(kept, () => winner()?.getTracer(...from));
    }
  }
}

function redirectTracer(tracer: Tracer, find: () => Tracer | undefined): void {
  let found: Tracer | undefined;
  for (const name of METHODS) {
    const own: Call = tracer[name].bind(tracer);
    const value: Call = (...values) => {
      found ??= find();
      if (found === undefined) return own(...values);
      const other = found as unknown as Record<(typeof METHODS)[number], Call>;
      return other[name](...values);
    };
    Object.defineProperty(tracer, name, { configurable: true, writable: true, value });
  }
}
