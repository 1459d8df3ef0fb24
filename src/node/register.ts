/**
 * Traces a Node service from outside: `node --import tracewright/register app.js`, or `-r`, or either
 * in `NODE_OPTIONS`. Settings come from the environment; settings.ts lists them.
 *
 * @module register
 */

import { isEnabled, isRequired } from './enabled.js';

// An addon that does not load on this machine must not stop the service, and only a call can be
// caught. A top-level await would break `-r`.
try {
  if (isEnabled()) {
    const { beginTracing } = require('./begin-tracing.js') as typeof import('./begin-tracing.js');
    beginTracing();
  }
} catch (error) {
  if (isRequired()) throw error;
  const reason = error instanceof Error ? error.message : String(error);
  process.emitWarning(`this process is not traced: ${reason}`, 'TracewrightWarning');
}
