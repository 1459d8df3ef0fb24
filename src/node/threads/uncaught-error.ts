import { version } from '../../core/version.js';
import { errorTypeOf, frameAttributes } from '../../spans/exception.js';
import { STATUS_ERROR, UNCAUGHT } from '../../spans/layout.js';
import { Scope } from '../../spans/scope.js';
import { spans } from '../../spans/shared-spans.js';

const SCOPE = new Scope('tracewright/end', version);

/** Records an error that nothing has caught, below the span in which it was thrown. */
export function recordError(error: unknown): void {
  const attributes = { 'error.type': errorTypeOf(error) ?? '_OTHER' };
  const span = spans.startScopedSpan(SCOPE, UNCAUGHT, attributes, undefined);
  span.markStatus(STATUS_ERROR, '');
  span.event('exception', frameAttributes(error)).end();
}
