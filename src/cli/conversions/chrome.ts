import { realpathSync, statSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { counted } from '../../core/counted.js';
import { findTraces } from '../../traces/find-traces.js';
import type { FoundTrace } from '../../traces/find-traces.js';
import { mergedChromeEvents } from '../../traces/merged-chrome-events.js';
import { EXIT_DONE, EXIT_FAULTY, UsageError } from '../command.js';
import { writeChromeJson } from '../output/chrome-json.js';
import { printMessage } from '../output/message.js';
import { ProgressLine } from '../output/progress-line.js';
import { RingWarning } from '../output/ring-warning.js';
import { fileOutput, standardOutput } from '../output/text-output.js';
import type { ConversionRequest } from './request.js';

/** `convert --to chrome`: to the file OUT, or to standard output. */
export async function convertToChrome({ path, out, force }: ConversionRequest): Promise<number> {
  const traces = drawable(findTraces([path]));
  const toFile = out !== undefined && out !== '-';
  if (toFile) refusePartOf(traces, out);
  const rings = new RingWarning('convert');
  for (const trace of traces) rings.printFor(trace);
  const output = toFile ? await fileOutput(out, force) : standardOutput();
  const progress = new ProgressLine(toFile || !process.stdout.isTTY);
  let exitCode = EXIT_DONE;
  const events = mergedChromeEvents(traces, {
    job: (trace) => ({ onProgress: progress.of(trace.path) }),
    onFault(fault) {
      progress.clear();
      printMessage(`tracewright convert: ${fault.message}`);
      exitCode = EXIT_FAULTY;
    },
  });
  const count = await writeChromeJson(output, events);
  progress.clear();
  await output.end();
  // In a pipeline the summary would only disturb.
  if (toFile || process.stderr.isTTY) {
    const place = toFile ? out : 'standard output';
    printMessage(
      `${place}: ${counted(count, 'event')}; open it in https://ui.perfetto.dev or chrome://tracing`,
    );
  }
  return exitCode;
}

/**
 * The traces that can be drawn. Each of the others is skipped with a message.
 *
 * @throws UsageError when there is none.
 */
function drawable(traces: readonly FoundTrace[]): FoundTrace[] {
  const drawn = traces.filter(({ format }) => format.notDrawn === undefined);
  for (const { format, path } of traces) {
    if (format.notDrawn === undefined) continue;
    if (drawn.length === 0) throw new UsageError(`${path} ${format.notDrawn}`);
    printMessage(`tracewright convert: ${path} is skipped: it ${format.notDrawn}`);
  }
  return drawn;
}

/** With --force, OUT could be the trace itself or a file of it. */
function refusePartOf(traces: readonly FoundTrace[], out: string): void {
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
