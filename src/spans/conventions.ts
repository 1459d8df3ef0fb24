/** The version of OpenTelemetry's semantic conventions that names and values of attributes follow. */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.44.0';

/** The methods that OpenTelemetry's conventions know, and QUERY. */
export const METHODS: readonly string[] =
  'CONNECT DELETE GET HEAD OPTIONS PATCH POST PUT QUERY TRACE'.split(' ');
/** The recorded value of any other method. */
export const OTHER_METHOD = '_OTHER';
/** In the name of a span, in place of such a method. */
export const OTHER_METHOD_NAME = 'HTTP';
