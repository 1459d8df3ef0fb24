import { counted } from '../../core/counted.js';
import { PerfettoExport } from '../../look/export/perfetto/perfetto-export.js';
import { printMessage } from '../output/message.js';
import { exportTraces } from './export.js';
import { drawable } from './input-traces.js';
import type { ConversionRequest } from './request.js';

/** `convert --to perfetto`. */
export function convertToPerfetto(request: ConversionRequest): Promise<number> {
  return exportTraces(request, {
    choose: drawable,
    isBinary: true,
    open(traces, options) {
      const result = new PerfettoExport(traces, options);
      return {
        chunks: () => result.chunks(),
        summary() {
          const { unconnected } = result;
          if (unconnected > 0) {
            printMessage(`${counted(unconnected, 'span')} not connected with a parent: too many`);
          }
          return `${counted(result.events, 'event')}; open it in https://ui.perfetto.dev`;
        },
      };
    },
  });
}
