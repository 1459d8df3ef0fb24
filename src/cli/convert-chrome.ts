import { realpathSync, statSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { writeChromeJson } from './chrome-json.js';
import { EXIT_DONE, EXIT_FAULTY, UsageError } from './command.js';
import type { ConversionRequest } from './convert.js';
import { counted } from '../core/counted.js';
import { findTraces } from './detect.js';
import type { FoundTrace } from './detect.js';
import { warnOfRings } from './left-rings.js';
import { mergedChromeEvents } from './merge-chrome.js';
import { ProgressLine } from './progress.js';
import { tell } from './tell.js';
import { fileOutput, standardOutput } from './text-output.js';

/** `convert --to chrome`: to the file OUT, or to standard output. */
export async function convertToChrome({ path, out, force }: ConversionRequest): Promise<number> {
  const traces = drawable(findTraces([path]));
  const toFile = out !== undefined && out !== '-';
  if (toFile) refusePartOf(traces, out);
  for (const trace of traces) warnOfRings('convert', trace.path);
  const output = toFile ? await fileOutput(out, force) : standardOutput();
  const progress = new ProgressLine(toFile || !process.stdout.isTTY);
  let exitCode = EXIT_DONE;
  const events = mergedChromeEvents(traces, {
    job: (trace) => ({ onProgress: progress.of(trace.path) }),
    onFault(fault) {
      progress.clear();
      tell(`tracewright convert: ${fault.message}`);
      exitCode = EXIT_FAULTY;
    },
  });
  const count = await writeChromeJson(output, events);
  progress.clear();
  await output.end();
  // Whoever pipes the events on need not be told.
  if (toFile || process.stderr.isTTY) {
    const place = toFile ? out : 'standard output';
    tell(
      `${place}: ${counted(count, 'event')}, to open in https://ui.perfetto.dev or chrome://tracing`,
    );
  }
  return exitCode;
}

/** Leaves out, with a word, what cannot be drawn beside what can; alone it is an error. */
function drawable(traces: FoundTrace[]): FoundTrace[] {
  const drawn = traces.filter(({ format }) => format.notDrawn === undefined);
  if (drawn.length === 0) return traces;
  for (const { format, path } of traces) {
    if (format.notDrawn === undefined) continue;
    tell(`tracewright convert: ${path} is left out: it ${format.notDrawn}`);
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
      throw new UsageError(`${out} is a part of the trace ${path}`);
    }
  }
}
