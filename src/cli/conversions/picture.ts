import { counted } from '../../core/readable-text.js';
import { PictureExport } from '../../export/picture/picture-export.js';
import { printMessage } from '../command.js';
import { type ConversionRequest, exportTraces } from './export.js';
import { drawable } from './input-traces.js';

/** `convert --to perfetto`. */
export function convertToPerfetto(request: ConversionRequest): Promise<number> {
  return exportTraces(request, {
    choose: drawable,
    isBinary: true,
    open(traces, options) {
      const result = new PictureExport(traces, options);
      return {
        chunks: () => result.chunks(),
        summary() {
          const { events, unconnected } = result;
          if (unconnected > 0) {
            printMessage(`${counted(unconnected, 'span')} not connected with a parent: too many`);
          }
          return `${counted(events, 'event')}; open it in https://ui.perfetto.dev`;
        },
      };
    },
  });
}
