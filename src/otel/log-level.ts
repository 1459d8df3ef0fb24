import { writeSync } from 'node:fs';
import { format } from 'node:util';
import type { DiagLogger } from '@opentelemetry/api';

/** The messages that each value of `OTEL_LOG_LEVEL` adds to those before it. */
const KINDS = ['error', 'warn', 'info', 'debug', 'verbose'] as const;

function nothing(): void {
  // Above the level.
}

/** Prints on standard error, whatever the kind: standard output is the program's. */
function printer(kind: string): (message: string, ...more: unknown[]) => void {
  return (message, ...more) => {
    try {
      writeSync(2, `opentelemetry ${kind}: ${format(message, ...more)}\n`);
    } catch {
      // Standard error is closed.
    }
  };
}

/**
 * The logger of the API's `diag` for `OTEL_LOG_LEVEL`: instrumentations and exporters report their faults there.
 * Undefined: the variable is not set, or has no level.
 */
export function levelledLogger(): DiagLogger | undefined {
  const level = (process.env['OTEL_LOG_LEVEL'] ?? '').trim().toLowerCase();
  const last = level === 'all' ? KINDS.length - 1 : KINDS.findIndex((kind) => kind === level);
  if (last === -1) return undefined;
  const logger: DiagLogger = {
    error: nothing,
    warn: nothing,
    info: nothing,
    debug: nothing,
    verbose: nothing,
  };
  for (const kind of KINDS.slice(0, last + 1)) logger[kind] = printer(kind);
  logger.info('tracewright records the spans of the API');
  return logger;
}
