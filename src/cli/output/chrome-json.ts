import type { ChromeEvent } from '../../core/chrome-event.js';
import type { TextOutput } from './text-output.js';

/**
 * Writes events as JSON for chrome://tracing and Perfetto (Trace Event Format, "JSON Object Format"),
 * one event per line.
 *
 * @returns the number of events.
 */
export async function writeChromeJson(
  output: TextOutput,
  events: Iterable<ChromeEvent>,
): Promise<number> {
  await output.write('{"displayTimeUnit":"ns","traceEvents":[');
  let separator = '\n';
  let count = 0;
  for (const event of events) {
    const full = output.write(separator + JSON.stringify(event));
    if (full) await full;
    separator = ',\n';
    count += 1;
  }
  await output.write('\n]}\n');
  return count;
}
