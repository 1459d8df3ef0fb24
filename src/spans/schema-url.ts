/** The version of OpenTelemetry's semantic conventions that names and values of attributes follow. */
export const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.44.0';
