/**
 * Traces in Heph's format, to a file, over UDP, TCP or a unix socket.
 *
 *     import { openTrace } from 'tracewright/heph';
 *
 *     const trace = openTrace('service.heph');
 *     const stream = trace.stream();
 *     const timing = stream.startTrace();
 *     stream.finishTrace(timing, 'loading', { rows: 42, table: 'users' });
 *     await trace.close();
 *
 * @module heph
 */
export { TracewrightError, TraceFormatError } from '../core/errors.js';
export type { ErrorCode } from '../core/errors.js';
export type { RingOptions } from '../core/ring-options.js';
export type { SizeOptions } from '../core/size-limits.js';
export type { FaultHandler, TargetFault } from '../core/target-news.js';
export type { ChromeEvent } from '../core/chrome-event.js';
export type { Finding, Progress } from '../core/finding.js';
export type { Recovery, RecoverOptions } from '../core/recovery.js';
export type { RecoveredStream } from '../core/recover-ring.js';
export { checkTrace } from './check.js';
export type { CheckOptions } from './check.js';
export { chromeEvents } from './chrome.js';
export type { ChromeOptions } from './chrome.js';
export { readEpoch } from './epoch.js';
export type { Attribute, EventPacket, MetadataPacket, Packet, ValueType } from './packet.js';
export { piecesOf } from './pieces.js';
export { decodePacket, PacketDecoder, readPackets } from './reader.js';
export type { ReadOptions } from './reader.js';
export { recoverTrace } from './recover.js';
export type { Span, SpanSchema, SpanValues } from './span.js';
export type { Attributes, Stream, Timing } from './stream.js';
export type { Target } from './target.js';
export { openTrace } from './trace.js';
export type { Trace, TraceOptions, TraceStats } from './trace.js';
export { f64, i64, u64 } from './value.js';
export type {
  AttributeInput,
  AttributeScalar,
  AttributeType,
  Integers,
  TypedValue,
} from './value.js';
