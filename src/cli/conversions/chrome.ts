import { counted } from '../../core/counted.js';
import { findTraces } from '../../traces/find-traces.js';
import { mergedChromeEvents } from '../../look/export/chrome/merged-chrome-events.js';
import { writeChromeJson } from '../output/chrome-json.js';
import { FaultReport } from '../output/fault-report.js';
import { printMessage } from '../output/message.js';
import { ProgressLine } from '../output/progress-line.js';
import { fileOutput, standardOutput } from '../output/text-output.js';
import { RingReader } from '../ring-options.js';
import { drawable, refusePartOf } from './input-traces.js';
import type { ConversionRequest } from './request.js';

/** `convert --to chrome`: to the file OUT, or to standard output. */
export async function convertToChrome(request: ConversionRequest): Promise<number> {
  const { path, out, force } = request;
  const toFile = out !== undefined && out !== '-';
  const progress = new ProgressLine(toFile || !process.stdout.isTTY);
  const faults = new FaultReport('convert', () => {
    progress.clear();
  });
  const traces = drawable(findTraces([path], {}, { onFault: faults.add }));
  if (toFile) refusePartOf(traces, out);
  const rings = new RingReader('convert', request.rings, faults.add);
  for (const trace of traces) rings.show(trace);
  const output = toFile ? await fileOutput(out, force) : standardOutput();
  const events = mergedChromeEvents(traces, {
    job: (trace) => ({ onProgress: progress.of(trace.path) }),
    onFault: faults.add,
  });
  const count = await writeChromeJson(output, events);
  progress.clear();
  rings.close();
  await output.end();
  // In a pipeline the summary would only disturb.
  if (toFile || process.stderr.isTTY) {
    const place = toFile ? out : 'standard output';
    printMessage(
      `${place}: ${counted(count, 'event')}; open it in https://ui.perfetto.dev or chrome://tracing`,
    );
  }
  return faults.end();
}
