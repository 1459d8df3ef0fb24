import { TraceFormatError } from '../../core/errors.js';
import type { EventCheck } from '../../heph/read/check.js';
import { SpanDecoder } from './span-decoder.js';

/** What readers of spans refuse in the events of a file, which are right by the format. */
export function spanCheck(path: string): EventCheck {
  const decoder = new SpanDecoder(path);
  return {
    rule: 'span-contract',
    faultOf(cursor) {
      try {
        decoder.decode(cursor);
        return undefined;
      } catch (error) {
        if (error instanceof TraceFormatError) return error;
        throw error;
      }
    },
  };
}
