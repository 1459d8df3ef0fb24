import { basename } from 'node:path';
import { core } from '../addon.js';
import { TracewrightError } from '../errors.js';
import type { Candidate } from './recover-rings.js';
import type { RingFile } from './ring-file.js';
import { ringsIn } from './ring-search.js';

/** A trace whose files may be fed by rings in a directory of their own. */
interface TraceOfRings {
  /** Whether a ring feeds a file of this format. */
  isMine(ring: RingFile): boolean;
  /** Whether a path lies in the trace under the name of one of its files, whatever is there. */
  holds(path: string): boolean;
  /** The files of the trace. */
  files(): Iterable<string>;
  /** The part of a file's path that stays when the trace is moved; default: its name. */
  labelOf?: (path: string) => string;
  /** The file of a trace, or of a copy, that says by itself that this is its ring. */
  fileNaming?(ring: RingFile): string | undefined;
  /** Where the rings would lie next to a file. */
  siblings(file: string, ring: RingFile): { from: string; to: string }[];
}

type Presence = 'itself' | 'another' | 'none';

/** Whether a file lies at a path and is the ring's; of a ring that notes no file any counts as it. */
function presenceAt(path: string, { targetFile }: RingFile): Presence {
  const [inode, born] = core.fileIdentity(path) as unknown as [bigint, bigint];
  if (inode === 0n) return 'none';
  if (targetFile.inode === 0n) return 'itself';
  // Only one of them shows its birth where another kernel, or another view of the volume, reads it.
  const agrees = born === targetFile.born || born === 0n || targetFile.born === 0n;
  return inode === targetFile.inode && agrees ? 'itself' : 'another';
}

/** Finds the file of a ring in a trace that has been moved. */
function finderIn(trace: TraceOfRings): (ring: RingFile) => string | undefined {
  const { labelOf = basename } = trace;
  let byNumber: Map<bigint, string[]> | undefined;
  return (ring) => {
    if (ring.targetFile.inode === 0n) return undefined;
    if (byNumber === undefined) {
      byNumber = new Map();
      for (const file of trace.files()) {
        const inode = core.fileIdentity(file)[0]!;
        byNumber.set(inode, [...(byNumber.get(inode) ?? []), file]);
      }
    }
    return byNumber
      .get(ring.targetFile.inode)
      ?.find(
        (file) => labelOf(file) === labelOf(ring.target) && presenceAt(file, ring) === 'itself',
      );
  };
}

function fileIsGone(ring: RingFile): TracewrightError {
  return new TracewrightError(
    'ERR_SYSTEM',
    `${ring.path} holds a part of ${ring.target}, which is not there: recover it where it has been ` +
      'moved to, or remove the ring if it is lost',
    { field: 'path', value: ring.target },
  );
}

function fileIsAnother(ring: RingFile, trace: TraceOfRings): TracewrightError {
  const moves = trace.siblings(ring.target, ring).map(({ from, to }) => `${from} to ${to}`);
  return new TracewrightError(
    'ERR_TRACE_EXISTS',
    `${ring.target} is left as it is: it is another file than the one that ${ring.path} feeds. Recover ` +
      'that one where it has been moved to, or remove the ring if it is lost; if this is a copy of it, ' +
      `move ${moves.join(', ')} and recover again`,
    { field: 'ringDir', value: ring.path, limit: 'the file that the ring feeds' },
  );
}

/**
 * Rings in a directory of their own. What such a ring says of its file counts only where it names one
 * inside the trace, and it must be that very file: another may have come to its path. Elsewhere in the
 * trace it is found as the file of the same name that it notes.
 */
export function* ringsElsewhere(
  ringDir: string | undefined,
  trace: TraceOfRings,
): Generator<Candidate, void> {
  if (ringDir === undefined) return;
  const movedFile = finderIn(trace);
  for (const path of ringsIn(ringDir)) {
    yield {
      path,
      streamOf(ring) {
        if (!trace.isMine(ring)) return undefined;
        const { target } = ring;
        const isInside = trace.holds(target);
        const there = presenceAt(target, ring);
        if (there === 'itself' && isInside) return target;
        const found =
          movedFile(ring) ?? (there === 'itself' ? undefined : trace.fileNaming?.(ring));
        if (found !== undefined || !isInside) return found;
        if (there === 'another') return fileIsAnother(ring, trace);
        return ring.head > ring.tail && ring.targetFile.inode !== 0n ? fileIsGone(ring) : target;
      },
    };
  }
}
