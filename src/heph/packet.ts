/** The packets of a Heph trace, as the readers yield them (trace format 0.1.0). */

/** The types of a single attribute value. */
export type ValueType = 'u64' | 'i64' | 'f64' | 'string';

/** One attribute of an event: its name, the type on the wire, and the value. */
export type Attribute =
  | { name: string; type: 'u64' | 'i64'; value: bigint }
  | { name: string; type: 'f64'; value: number }
  | { name: string; type: 'string'; value: string }
  | { name: string; type: 'u64[]' | 'i64[]'; value: bigint[] }
  | { name: string; type: 'f64[]'; value: number[] }
  | { name: string; type: 'string[]'; value: string[] };

/** An option that holds for the whole trace (section "Metadata Packet"). */
export interface MetadataPacket {
  kind: 'metadata';
  /** Bytes from the start of the file, datagram or connection to this packet. */
  offset: number;
  /** Bytes of the whole packet. */
  size: number;
  name: string;
  /** A copy of the bytes of the option's value. */
  value: Uint8Array;
  /** Of the option `epoch`: nanoseconds since the Unix epoch. */
  epoch?: bigint;
}

/** One event (section "Event Packet"). */
export interface EventPacket {
  kind: 'event';
  /** Bytes from the start of the file, datagram or connection to this packet. */
  offset: number;
  /** Bytes of the whole packet. */
  size: number;
  /** Thread of execution, u32; 0 is the coordinator. */
  stream: number;
  /** Position of the event in its stream, u32: counts from 0 and wraps. */
  counter: number;
  /** The task that the stream was working on, u64; 0 is the runtime itself. */
  substream: bigint;
  /** Nanoseconds since the trace's epoch, u64. */
  start: bigint;
  /** Nanoseconds since the trace's epoch, u64. */
  end: bigint;
  description: string;
  /** In the order of the packet; two can have the same name. */
  attributes: Attribute[];
}

export type Packet = MetadataPacket | EventPacket;
