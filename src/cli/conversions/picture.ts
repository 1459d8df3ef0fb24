import { counted } from '../../core/readable-text.js';
import { ChromeWriter } from '../../export/chrome/chrome-writer.js';
import { PacketWriter } from '../../export/perfetto/packet-writer.js';
import type { Canvas } from '../../export/picture/canvas.js';
import { PictureExport } from '../../export/picture/picture-export.js';
import { printMessage } from '../command.js';
import { type ConversionRequest, exportTraces } from './export.js';
import { drawable } from './input-traces.js';

/** `convert --to perfetto`. */
export function convertToPerfetto(request: ConversionRequest): Promise<number> {
  return draw(request, new PacketWriter(), true, 'https://ui.perfetto.dev');
}

/** `convert --to chrome`. */
export function convertToChrome(request: ConversionRequest): Promise<number> {
  return draw(request, new ChromeWriter(), false, 'https://ui.perfetto.dev or chrome://tracing');
}

function draw(
  request: ConversionRequest,
  canvas: Canvas,
  isBinary: boolean,
  viewers: string,
): Promise<number> {
  return exportTraces(request, {
    choose: drawable,
    isBinary,
    open(traces, options) {
      const result = new PictureExport(traces, canvas, options);
      return {
        chunks: () => result.chunks(),
        summary() {
          const { unconnected } = result;
          if (unconnected > 0) {
            printMessage(`${counted(unconnected, 'span')} not connected with a parent: too many`);
          }
          return `${counted(canvas.events, 'event')}; open it in ${viewers}`;
        },
      };
    },
  });
}
