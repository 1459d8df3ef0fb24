import type { ChromeEvent } from '../core/chrome-event.js';
import type { TextOutput } from './text-output.js';

/**
 * Writes events as the JSON object that chrome://tracing and Perfetto open (Trace Event Format,
 * "JSON Object Format"), one event a line, as fast as the output takes it.
 *
 * @returns how many there were.
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
