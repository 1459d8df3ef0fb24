import type { EventPacket } from '../../heph/packet.js';
import {
  PROFILE_DESCRIPTION,
  PROFILE_FRAMES,
  PROFILE_INTERVAL,
  PROFILE_LINES,
  PROFILE_NODES,
  PROFILE_SAMPLES,
  PROFILE_SIZES,
  PROFILE_SPANS,
  REAL_START,
  VERSION,
} from '../layout.js';

/** A node of a call tree. */
interface ProfileNode {
  /** Number in `frames`. */
  readonly frame: number;
  /** Number of the node that called it, which is lower; -1: none. */
  readonly parent: number;
}

interface ProfileSample {
  /** Ns since the trace's epoch. */
  readonly time: number;
  readonly node: number;
  /** Number in `spans`; -1: none is known. */
  readonly span: number;
}

interface AllocatedSize {
  readonly node: number;
  readonly bytes: number;
  readonly count: number;
}

/** Samples of what a thread ran within about a second, or what its functions had allocated that was alive. */
export interface ProfilePart {
  readonly thread: number;
  /** Ns since the trace's epoch. */
  readonly from: number;
  /** Ns of a sample. */
  readonly interval: number;
  /** `at function (script:line:column)`, or the name of what is no script. */
  readonly frames: readonly string[];
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly ProfileSample[];
  readonly sizes: readonly AllocatedSize[];
  /** Ids of spans: 16 hexadecimal digits. */
  readonly spans: readonly string[];
  /** How many samples were at a line of the function of a node. */
  readonly lines: readonly { node: number; line: number; count: number }[];
}

const ID = /^[\da-f]{16}$/;
const NUMBER = /^\d{1,15}$/;

function numbersOf(text: string): number[] {
  return text.split(':').map((part) => (NUMBER.test(part) ? Number(part) : -1));
}

function listOf(text: string): string[] {
  return text === '' ? [] : text.split(',');
}

/** The part of a profile in an event; undefined: it has none. Samples that break the contract are left out. */
export function profilePart({
  description,
  stream,
  start,
  attributes,
}: EventPacket): ProfilePart | undefined {
  if (description !== PROFILE_DESCRIPTION || attributes[0]?.name !== VERSION) return undefined;
  const valueOf = (wanted: string) => attributes.find(({ name }) => name === wanted)?.value;
  const textOf = (wanted: string): string => {
    const value = valueOf(wanted);
    return typeof value === 'string' ? value : '';
  };
  const interval = valueOf(PROFILE_INTERVAL);
  // The profile begins before the trace.
  const before = valueOf(REAL_START);
  const from = Number(typeof before === 'bigint' ? before : start);
  const frames = textOf(PROFILE_FRAMES).split('\n');
  const nodes = listOf(textOf(PROFILE_NODES)).map((text, number) => {
    const [frame = -1, parent = -1] = numbersOf(text);
    return { frame, parent: parent < number ? parent : -1 };
  });
  const spans = listOf(textOf(PROFILE_SPANS)).map((id) => (ID.test(id) ? id : ''));
  const isNode = (node: number): boolean => frames[nodes[node]?.frame ?? -1] !== undefined;
  return {
    thread: stream,
    from,
    interval: typeof interval === 'bigint' ? Number(interval) : 0,
    frames,
    nodes,
    spans,
    samples: listOf(textOf(PROFILE_SAMPLES)).flatMap((text) => {
      const [us = -1, node = -1, span = -1] = numbersOf(text);
      if (us < 0 || !isNode(node)) return [];
      return [{ time: from + us * 1000, node, span: spans[span] ? span : -1 }];
    }),
    sizes: listOf(textOf(PROFILE_SIZES)).flatMap((text) => {
      const [node = -1, bytes = -1, count = -1] = numbersOf(text);
      return bytes > 0 && count > 0 && isNode(node) ? [{ node, bytes, count }] : [];
    }),
    lines: listOf(textOf(PROFILE_LINES)).flatMap((text) => {
      const [node = -1, line = -1, count = -1] = numbersOf(text);
      return line > 0 && count > 0 && isNode(node) ? [{ node, line, count }] : [];
    }),
  };
}

/** The frames of a node, the innermost first. */
export function framesOf({ frames, nodes }: ProfilePart, node: number): string[] {
  const found: string[] = [];
  // Numbers of parents fall.
  for (let at = node; at >= 0; at = nodes[at]!.parent) found.push(frames[nodes[at]!.frame] ?? '');
  return found;
}
