import { unlessFaulty } from '../../core/fault.js';
import type { Progress } from '../../core/finding.js';
import { END_OFFSET, START_OFFSET, STREAM_OFFSET, SUBSTREAM_OFFSET } from '../layout.js';
import { PacketCursor } from './packet-cursor.js';

/** Bounds of what a survey keeps in memory and of what a viewer can show. */
const MAX_STREAMS = 1 << 12;
const MAX_SUBSTREAMS = 1 << 20;
const MAX_LANES = 1000;

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** A thread that a viewer shows. */
export interface Track {
  tid: number;
  name: string;
}

/** Which events of a trace are drawn on which track. */
export interface TrackSurvey {
  /** The first epoch that the trace sets. */
  epoch: bigint | undefined;
  /** In the order in which a viewer should show them; their tids ascend and begin at 1. */
  tracks: Track[];
  /** The track of a substream's events, undefined for one that found no place. */
  tidOf(stream: number, substream: bigint): number | undefined;
  /** The track for streams beyond those that were surveyed. */
  otherStreamsTid: number;
}

/** Substreams beyond 2^53 - 1 are keyed by the bigint: numbers there would run into each other. */
type SubstreamKey = number | bigint;

/** The time of one substream, from its first start to its last end, and later its lane. */
interface Extent {
  start: number;
  end: number;
  tid: number | undefined;
}

/** Extents of the substreams other than 0, by stream. */
type Extents = Map<number, Map<SubstreamKey, Extent>>;

const keyOf = (substream: bigint): SubstreamKey =>
  substream > MAX_SAFE ? substream : Number(substream);

/**
 * Goes through a trace once, by the packets' fixed fields alone, to learn when each substream
 * lived, and deals the substreams onto lanes: the lowest one of the stream that is free from the
 * substream's first start to its last end. Events of which the interpretation takes note itself have no
 * track. Faults are passed over: the reader of the trace reports them.
 */
export function surveyTracks(
  path: string,
  interpretation: { note(cursor: PacketCursor): boolean },
  onProgress: Progress,
): TrackSurvey {
  const extents: Extents = new Map();
  const cursor = new PacketCursor(path, { onProgress, onFault: () => undefined });
  let epoch: bigint | undefined;
  try {
    epoch = collect(cursor, extents, interpretation);
  } finally {
    cursor.close();
  }
  return deal(epoch, extents);
}

function collect(
  cursor: PacketCursor,
  extents: Extents,
  interpretation: { note(cursor: PacketCursor): boolean },
): bigint | undefined {
  let epoch: bigint | undefined;
  let substreams = 0;
  while (cursor.next()) {
    if (!cursor.isEvent) {
      epoch ??= epochAt(cursor);
      continue;
    }
    if (!interpretation.note(cursor)) continue;
    const stream = cursor.u32(STREAM_OFFSET);
    let ofStream = extents.get(stream);
    if (ofStream === undefined) {
      if (extents.size >= MAX_STREAMS) continue;
      ofStream = new Map();
      extents.set(stream, ofStream);
    }
    const substream = cursor.u64AsNumber(SUBSTREAM_OFFSET);
    if (substream === 0) continue;
    const key = Number.isSafeInteger(substream) ? substream : cursor.u64(SUBSTREAM_OFFSET);
    const start = cursor.u64AsNumber(START_OFFSET);
    const end = Math.max(start, cursor.u64AsNumber(END_OFFSET));
    const extent = ofStream.get(key);
    if (extent !== undefined) {
      if (start < extent.start) extent.start = start;
      if (end > extent.end) extent.end = end;
    } else if (substreams < MAX_SUBSTREAMS) {
      substreams++;
      ofStream.set(key, { start, end, tid: undefined });
    }
  }
  return epoch;
}

function epochAt(cursor: PacketCursor): bigint | undefined {
  const packet = unlessFaulty(() => cursor.packet());
  return packet?.kind === 'metadata' ? packet.epoch : undefined;
}

function deal(epoch: bigint | undefined, extents: Extents): TrackSurvey {
  const tracks: Track[] = [];
  const streamTids = new Map<number, number>();
  let lanesLeft = MAX_LANES;
  const addTrack = (name: string): number => {
    const tid = tracks.length + 1;
    tracks.push({ tid, name });
    return tid;
  };
  for (const stream of [...extents.keys()].sort((a, b) => a - b)) {
    streamTids.set(stream, addTrack(`stream ${stream}`));
    const ordered = [...extents.get(stream)!.values()].sort((a, b) => a.start - b.start);
    const lanes: { tid: number; freeFrom: number }[] = [];
    for (const extent of ordered) {
      let lane = lanes.find(({ freeFrom }) => freeFrom <= extent.start);
      if (lane === undefined) {
        if (lanesLeft === 0) continue;
        lanesLeft--;
        const tid = addTrack(`stream ${stream}, substreams, lane ${lanes.length + 1}`);
        lane = { tid, freeFrom: 0 };
        lanes.push(lane);
      }
      lane.freeFrom = extent.end;
      extent.tid = lane.tid;
    }
  }
  const otherStreamsTid =
    extents.size < MAX_STREAMS ? tracks.length + 1 : addTrack('further streams');
  return {
    epoch,
    tracks,
    otherStreamsTid,
    tidOf: (stream, substream) =>
      substream === 0n ? streamTids.get(stream) : extents.get(stream)?.get(keyOf(substream))?.tid,
  };
}
