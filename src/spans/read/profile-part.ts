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
  /** By node of the call tree: number in `frames`. */
  readonly nodes: readonly number[];
  /** By node: number of the node that called it, which is lower; -1: none. */
  readonly parents: readonly number[];
  readonly samples: readonly ProfileSample[];
  readonly sizes: readonly AllocatedSize[];
  /** Ids of spans: 16 hexadecimal digits. */
  readonly spans: readonly string[];
  /** How many samples were at a line of the function of a node. */
  readonly lines: readonly { node: number; line: number; count: number }[];
}

const ID = /^[\da-f]{16}$/;
const COLON = 0x3a;
const COMMA = 0x2c;
const ZERO = 0x30;
const MOST_DIGITS = 15;

/**
 * Reads entries of up to three numbers, `1:2:3,4:5:6`.
 *
 * @param each called with the numbers of an entry; -1: it has none there.
 */
function readEntries(text: string, each: (a: number, b: number, c: number) => void): void {
  if (text === '') return;
  const fields = [-1, -1, -1];
  let field = 0;
  let value = 0;
  let digits = 0;
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? COMMA : text.charCodeAt(at);
    if (code !== COLON && code !== COMMA) {
      const digit = code - ZERO;
      // What is no number has too many digits.
      digits += digit >= 0 && digit <= 9 ? 1 : MOST_DIGITS + 1;
      value = value * 10 + digit;
      continue;
    }
    if (field < fields.length) fields[field] = digits > 0 && digits <= MOST_DIGITS ? value : -1;
    field++;
    value = digits = 0;
    if (code === COLON) continue;
    each(fields[0]!, fields[1]!, fields[2]!);
    fields.fill(-1);
    field = 0;
  }
}

function listOf(text: string): string[] {
  return text === '' ? [] : text.split(',');
}

/** Whether an event has CPU samples. */
export function hasSamples({ description, attributes }: EventPacket): boolean {
  return (
    description === PROFILE_DESCRIPTION && attributes.some(({ name }) => name === PROFILE_SAMPLES)
  );
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
  const nodes: number[] = [];
  const parents: number[] = [];
  readEntries(textOf(PROFILE_NODES), (frame, parent) => {
    parents.push(parent < nodes.length ? parent : -1);
    nodes.push(frame);
  });
  const spans = listOf(textOf(PROFILE_SPANS)).map((id) => (ID.test(id) ? id : ''));
  const isNode = (node: number): boolean => frames[nodes[node] ?? -1] !== undefined;
  const samples: ProfileSample[] = [];
  readEntries(textOf(PROFILE_SAMPLES), (us, node, span) => {
    if (us < 0 || !isNode(node)) return;
    samples.push({ time: from + us * 1000, node, span: spans[span] ? span : -1 });
  });
  const sizes: AllocatedSize[] = [];
  readEntries(textOf(PROFILE_SIZES), (node, bytes, count) => {
    if (bytes > 0 && count > 0 && isNode(node)) sizes.push({ node, bytes, count });
  });
  const lines: { node: number; line: number; count: number }[] = [];
  readEntries(textOf(PROFILE_LINES), (node, line, count) => {
    if (line > 0 && count > 0 && isNode(node)) lines.push({ node, line, count });
  });
  return {
    thread: stream,
    from,
    interval: typeof interval === 'bigint' ? Number(interval) : 0,
    ...{ frames, nodes, parents, spans, samples, sizes, lines },
  };
}

/** The frames of a node, the innermost first. */
export function framesOf({ frames, nodes, parents }: ProfilePart, node: number): string[] {
  const found: string[] = [];
  // Numbers of parents fall.
  for (let at = node; at >= 0; at = parents[at]!) found.push(frames[nodes[at]!] ?? '');
  return found;
}
