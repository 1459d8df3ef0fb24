import { realpathSync, statSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { FoundTrace } from '../../traces/find-traces.js';
import { printMessage, UsageError } from '../command.js';

/**
 * The traces that can be drawn. Each of the others is skipped with a message.
 *
 * @throws UsageError when there is none.
 */
export function drawable(traces: readonly FoundTrace[]): FoundTrace[] {
  const drawn = traces.filter(({ format }) => format.notDrawn === undefined);
  for (const { format, path } of traces) {
    if (format.notDrawn === undefined) continue;
    if (drawn.length === 0) throw new UsageError(`${path} ${format.notDrawn}`);
    printMessage(`tracewright convert: ${path} is skipped: it ${format.notDrawn}`);
  }
  return drawn;
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

/**
 * The traces that can have spans. Each of the others is skipped with a message.
 *
 * @throws UsageError when there is none.
 */
export function withSpans(traces: readonly FoundTrace[]): FoundTrace[] {
  const chosen = traces.filter(({ format }) => format.content === 'spans');
  for (const { format, path } of traces) {
    if (format.content === 'spans') continue;
    const why = `is a trace of ${format.name}, which has no spans`;
    if (chosen.length === 0) throw new UsageError(`${path} ${why}`);
    printMessage(`tracewright convert: ${path} is skipped: it ${why}`);
  }
  return chosen;
}
