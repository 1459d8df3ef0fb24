import type { Context, TextMapPropagator } from '@opentelemetry/api';
import type { HeaderFormat } from '../spans/context/header-format.js';
import { TRACE_FLAGS_MASK } from '../spans/layout.js';
import { ApiContext } from './api-context.js';
import { plainBaggage } from './baggage-view.js';
import { installApi } from './install-api.js';
import { BAGGAGE_KEY, SPAN_KEY } from './keys.js';
import { standInOfForeign } from './span-context.js';

/** A propagator that the program has registered, for the headers of the hook's requests. */
export function formatOfPropagator(propagator: TextMapPropagator): HeaderFormat {
  installApi();
  return {
    fields: propagator.fields().map((name) => name.toLowerCase()),
    inject(span, put) {
      // A span is a context of the API.
      propagator.inject(span as unknown as Context, undefined, {
        set(_, name, value) {
          put(name.toLowerCase(), value);
        },
      });
    },
    extract(get, names) {
      const root: Context = new ApiContext(undefined, undefined);
      const context = propagator.extract(root, undefined, {
        get: (_, name) => get(name.toLowerCase()),
        keys: names,
      });
      const span = standInOfForeign(context.getValue(SPAN_KEY), undefined);
      const baggage = plainBaggage(context.getValue(BAGGAGE_KEY));
      if (span === undefined) {
        return baggage && { parent: undefined, traceState: '', baggage };
      }
      const { t0, t1, t2, t3, s0, s1, flags, traceState } = span;
      const parent = {
        trace: [t0, t1, t2, t3] as [number, number, number, number],
        span: [s0, s1] as [number, number],
        flags: flags & TRACE_FLAGS_MASK,
      };
      return { parent, traceState, baggage };
    },
  };
}
