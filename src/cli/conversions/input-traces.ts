import { realpathSync, statSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { TraceFormat } from '../../rows/trace-format.js';
import type { FoundTrace } from '../../traces/find-traces.js';
import { printMessage, UsageError } from '../command.js';

/** The traces that can be drawn. */
export function drawable(traces: readonly FoundTrace[]): FoundTrace[] {
  return fitting(traces, ({ notDrawn }) => notDrawn);
}

/** The traces that can have spans. */
export function withSpans(traces: readonly FoundTrace[]): FoundTrace[] {
  return fitting(traces, ({ content, name }) =>
    content === 'spans' ? undefined : `is a trace of ${name}, which has no spans`,
  );
}

/**
 * Each of the others is skipped with a message.
 *
 * @param whyNot a trace of a format does not fit; undefined: it does.
 * @throws UsageError when there is none.
 */
function fitting(
  traces: readonly FoundTrace[],
  whyNot: (format: TraceFormat) => string | undefined,
): FoundTrace[] {
  const chosen = traces.filter(({ format }) => whyNot(format) === undefined);
  for (const { format, path } of traces) {
    const why = whyNot(format);
    if (why === undefined) continue;
    if (chosen.length === 0) throw new UsageError(`${path} ${why}`);
    printMessage(`tracewright convert: ${path} is skipped: it ${why}`);
  }
  return chosen;
}

/**
 * With --force, OUT could be the trace itself or a file of it.
 *
 * @throws UsageError if it is.
 */
export function refusePartOf(traces: readonly FoundTrace[], out: string): void {
  const existing = statSync(out, { throwIfNoEntry: false });
  if (existing === undefined) return;
  const target = realpathSync(out);
  for (const { path } of traces) {
    const source = realpathSync(path);
    const inside = relative(source, target);
    if (inside !== '..' && !inside.startsWith(`..${sep}`)) {
      throw new UsageError(`OUT ${out} is a part of the trace ${path}: choose another name`);
    }
  }
}
