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
export type { RingOptions } from '../core/options/ring-options.js';
export type { SizeOptions } from '../core/options/size-limits.js';
export type { FaultHandler, TargetFault } from '../core/ring/target-health.js';
export type { Finding, Progress } from '../core/finding.js';
export type { Recovery, RecoverOptions, RecoveredStream } from '../core/recovery/recovery.js';
export { checkTrace } from './read/check.js';
export type { CheckOptions } from '../core/finding.js';
export { readEpoch } from './read/reader.js';
export type { Attribute, EventPacket, MetadataPacket, Packet, ValueType } from './packet.js';
export { piecesOf } from './pieces.js';
export { decodePacket, PacketDecoder, readPackets } from './read/reader.js';
export type { ReadOptions } from './read/reader.js';
export { PacketReceiver } from './read/receiver.js';
export type {
  ReceivedConnection,
  ReceivedPacket,
  ReceivedStream,
  ReceiverOptions,
} from './read/receiver.js';
export type { StreamCounts } from './read/stream-order.js';
export { recoverTrace } from './read/recover.js';
export type { Span, SpanSchema, SpanValues } from './write/span.js';
export type { Timing } from './write/event-stream.js';
export type { Stream } from './write/stream.js';
export type { Target } from './target.js';
export { openTrace } from './write/trace.js';
export type { Trace, TraceOptions } from './write/trace.js';
export type { LenientCounts } from './write/taken-attributes.js';
export type { NetworkStats, TraceStats } from './write/trace-stats.js';
export { f64, i64, u64 } from './write/value.js';
export type {
  Attributes,
  AttributeInput,
  AttributeScalar,
  AttributeType,
  Integers,
  TypedValue,
} from './write/value.js';
