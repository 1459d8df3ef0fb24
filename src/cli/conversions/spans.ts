import { counted } from '../../core/readable-text.js';
import { OtlpExport } from '../../export/otlp/otlp-export.js';
import { ParquetExport } from '../../export/parquet/parquet-export.js';
import { printMessage } from '../command.js';
import { type ConversionRequest, exportTraces } from './export.js';
import { withSpans } from './input-traces.js';

const PROTOBUF_NAME = /\.(pb|binpb|protobuf)$/;

/** `convert --to otlp`. */
export function convertToOtlp(request: ConversionRequest): Promise<number> {
  const { out = '' } = request;
  const encoding = request.encoding ?? (PROTOBUF_NAME.test(out) ? 'protobuf' : 'json');
  return exportTraces(request, {
    choose: withSpans,
    isBinary: encoding === 'protobuf',
    open(traces, options) {
      const result = new OtlpExport(traces, options);
      return {
        chunks: () => result.chunks(encoding),
        summary() {
          if (result.invalid > 0) {
            printMessage(
              `${counted(result.invalid, 'span')} left out: an id of zeros is not valid`,
            );
          }
          return spansText(result.stream.spans - result.invalid, result.stream.otherEvents);
        },
      };
    },
  });
}

/** Counts what was converted: `5 spans; 2 events are no spans and are left out`. */
function spansText(spans: number, otherEvents: number): string {
  const others =
    otherEvents === 0 ? '' : `; ${counted(otherEvents, 'event')} without ids left out: no spans`;
  return counted(spans, 'span') + others;
}

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
