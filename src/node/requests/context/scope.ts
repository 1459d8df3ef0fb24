import { version } from '../../../core/version.js';
import { SCHEMA_URL } from '../../../spans/schema-url.js';
import { Scope } from '../../../spans/scope.js';

/** What records requests, and by which conventions. */
export const HTTP_SCOPE = new Scope('tracewright/register', version, SCHEMA_URL);
