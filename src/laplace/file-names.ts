import { basename, dirname, join } from 'node:path';
import { kindOf } from '../core/files/file-kind.js';
import { ringsElsewhere } from '../core/recovery/detached-ring.js';
import type { Candidate } from '../core/recovery/recover-rings.js';
import type { RingFile } from '../core/recovery/ring-file.js';

/** The three kinds of traces. Nothing inside a binary trace says which kind it is. */
const traceKinds = ['binary', 'text', 'kernel'] as const;
export type TraceKind = (typeof traceKinds)[number];

/** How the name of a trace of each kind ends, if its writer wants it to be found in a directory. */
const extensions: Readonly<Record<TraceKind, string>> = {
  binary: '.references',
  text: '.references.txt',
  kernel: '.kernel.txt',
};

/** The kind that a file's name says; undefined for any other name. */
export function kindOfName(file: string): TraceKind | undefined {
  return traceKinds.find((kind) => file.endsWith(extensions[kind]));
}

/** Format of a ring. */
export type RingFormat = `laplace-${TraceKind}`;

/** The kind of the trace that a ring of this format feeds; undefined for rings of other formats. */
export function kindOfRingFormat(format: string | undefined): TraceKind | undefined {
  return traceKinds.find((kind) => format === `laplace-${kind}`);
}

/** The ring of a trace, in the same directory. */
export function ringOf(file: string): string {
  return join(dirname(file), `.${basename(file)}.ring`);
}

/** The trace that a ring in the same directory feeds; undefined for any other name. */
export function fileOfRing(ring: string): string | undefined {
  const name = /^\.(.+)\.ring$/.exec(basename(ring))?.[1];
  return name === undefined ? undefined : join(dirname(ring), name);
}

/**
 * A ring in a directory for rings only.
 *
 * @param tag keeps the rings of several traces apart.
 */
export function ringIn(ringDir: string, tag: string): string {
  return join(ringDir, `tracewright-${tag}-laplace.ring`);
}

function isLaplaceRing(ring: RingFile): boolean {
  return ring.targetKind === 'own-file' && kindOfRingFormat(ring.format) !== undefined;
}

/** The files that may be rings of a trace. */
export function* ringCandidates(file: string, ringDir: string | undefined): Generator<Candidate> {
  const ring = ringOf(file);
  if (kindOf(ring) !== undefined) {
    yield {
      path: ring,
      stream: file,
      streamOf: (opened) => (isLaplaceRing(opened) ? file : undefined),
    };
  }
  yield* ringsElsewhere(ringDir, {
    isMine: isLaplaceRing,
    holds: (path) => path === file,
    files: () => [file],
    siblings: (_, { path }) => [{ from: path, to: ring }],
  });
}
