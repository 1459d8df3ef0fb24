import { ParquetExport } from '../../export/parquet/parquet-export.js';
import { exportTraces } from './export.js';
import { withSpans } from './input-traces.js';
import { spansText } from './otlp.js';
import type { ConversionRequest } from './request.js';

/** `convert --to parquet`. */
export function convertToParquet(request: ConversionRequest): Promise<number> {
  return exportTraces(request, {
    choose: withSpans,
    isBinary: true,
    open(traces, options) {
      const result = new ParquetExport(traces, options);
      return {
        chunks: () => result.chunks(),
        summary: () => spansText(result.stream.spans, result.stream.otherEvents),
      };
    },
  });
}
