import { shared } from '../core/process-state.js';
import { installContextMethods } from './api-context.js';
import { installSpanMethods } from './span-methods.js';

/** Gives the spans of this thread what the API needs of them, once for all copies of the package. */
export function installApi(): void {
  shared('otel.methods', () => {
    installSpanMethods();
    installContextMethods();
    return true;
  });
}
