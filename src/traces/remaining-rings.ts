import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { addToList } from '../core/map-entries.js';
import { TraceFormatError, TracewrightError } from '../core/errors.js';
import { untilFault } from '../core/fault.js';
import { kindOf, sizeOf } from '../core/files/file-kind.js';
import { hasCode } from '../core/files/system-error.js';
import { listed } from '../core/readable-text.js';
import { filesBelow } from '../core/recovery/ring-search.js';
import { RingFile } from '../core/recovery/ring-file.js';
import type { FoundTrace } from './find-traces.js';
import { MappedRings } from './mapped-rings.js';
import type { TraceFormat } from '../rows/trace-format.js';

/** A ring that may contain a part of a trace. */
interface RemainingRing {
  path: string;
  /** The file that it feeds. */
  file: string;
  /** The live process that writes the trace; undefined: it was killed, or the ring has a fault. */
  writer: number | undefined;
  /** Bytes of the file that its writer does not change any more. */
  finalBytes: number;
  /** Why it cannot be read. */
  fault?: string;
}

/** Whether a ring belongs to the user whose trace it claims to feed. */
function isOfOwner(ring: string, file: string): boolean {
  const [ringUid, fileUid] = [kindOf(ring)?.uid, kindOf(file)?.uid];
  return ringUid === undefined || fileUid === undefined || ringUid === fileUid;
}

function openRing(path: string, file: string): RemainingRing | undefined {
  if (!isOfOwner(path, file)) return undefined;
  try {
    const ring = RingFile.open(path, undefined, 'look');
    const writer = ring.owner === 'alive' ? ring.pid : undefined;
    // A ring that is not ready has fed nothing.
    if (!(ring instanceof RingFile)) return { path, file, writer, finalBytes: 0 };
    ring.close();
    const finalBytes =
      ring.targetKind === 'own-file'
        ? ring.baseOffset + ring.tail
        : ring.hasClaim
          ? ring.claim.offset
          : sizeOf(file);
    return { path, file, writer, finalBytes };
  } catch (error) {
    if (!(error instanceof TracewrightError)) throw error;
    // A live process removes its ring when the trace is complete.
    if (hasCode(error, 'ENOENT')) return undefined;
    return { path, file, writer: undefined, finalBytes: 0, fault: error.message };
  }
}

const ignore = (): void => undefined;

/** Finds the rings of traces: those next to them, and those of live processes. Each directory is read once. */
export class RemainingRings {
  readonly #mapped = new MappedRings();
  /** Files with what a recovery has cut off them, in the directories that were read. */
  readonly #cut = new Set<string>();
  readonly #byDirectory = new Map<string, ReadonlyMap<string, readonly string[]>>();

  /** The rings of a trace, as they are now. */
  *of({ format, path }: FoundTrace): Generator<RemainingRing, void> {
    // What cannot be searched cannot be read either: reading the trace reports it.
    const rings = untilFault(ignore, path, () => this.#rings(format, path));
    for (const { ring, file } of rings) {
      const opened = openRing(ring, file);
      if (opened !== undefined) yield opened;
    }
  }

  /**
   * Whether a ring lay next to a trace when its directory was read, or what a recovery has cut off it. Opens
   * nothing.
   */
  wereNextTo({ format, path }: FoundTrace): boolean {
    if (this.#ringsNear(format, path).next().done !== true) return true;
    return this.#cut.has(join(dirname(path), basename(path)));
  }

  *#rings(format: TraceFormat, path: string): Generator<{ ring: string; file: string }, void> {
    const found = new Set<string>();
    for (const near of this.#ringsNear(format, path)) {
      found.add(resolve(near.ring));
      yield near;
    }
    const paths = statSync(path).isDirectory() ? [path] : filesOf(format, path);
    for (const each of paths) {
      for (const { ring, file } of this.#mapped.of(each)) {
        if (!found.has(resolve(ring))) yield { ring, file };
      }
    }
  }

  *#ringsNear(format: TraceFormat, path: string): Generator<{ ring: string; file: string }, void> {
    const { rings } = format;
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
      for (const ring of filesBelow(path, (name) => rings.isRing(name))) {
        yield { ring, file: rings.fileOf(ring) ?? ring };
      }
      return;
    }
    for (const file of filesOf(format, path)) {
      for (const ring of this.#ringsOf(format, file)) yield { ring, file };
    }
  }

  #ringsOf({ name, rings }: TraceFormat, file: string): readonly string[] {
    const directory = dirname(file);
    const key = `${name} ${directory}`;
    let byFile = this.#byDirectory.get(key);
    if (byFile === undefined) {
      const found = new Map<string, string[]>();
      for (const entry of readdirSync(directory)) {
        const ring = join(directory, entry);
        const cut = rings.fileOfCut?.(ring);
        if (cut !== undefined) this.#cut.add(cut);
        const fed = rings.isRing(ring) ? rings.fileOf(ring) : undefined;
        if (fed === undefined) continue;
        addToList(found, fed, ring);
      }
      byFile = found;
      this.#byDirectory.set(key, byFile);
    }
    return byFile.get(join(directory, basename(file))) ?? [];
  }
}

/** The files of a trace that is no directory. */
function filesOf(format: TraceFormat, path: string): readonly string[] {
  try {
    return [...(format.filesOf?.(path) ?? [path])];
  } catch (error) {
    // Reading the trace itself reports it.
    if (error instanceof TraceFormatError) return [path];
    throw error;
  }
}

/** Live processes that still write a trace. */
export class Writers {
  /** Of live processes, in ascending order. */
  readonly pids: readonly number[];
  readonly #finalBytes = new Map<string, number>();

  constructor(rings: readonly RemainingRing[]) {
    const alive = rings.filter(({ writer }) => writer !== undefined);
    this.pids = [...new Set(alive.map(({ writer }) => writer!))].sort((a, b) => a - b);
    for (const { file, finalBytes } of alive) {
      const key = resolve(file);
      const known = this.#finalBytes.get(key) ?? Infinity;
      this.#finalBytes.set(key, Math.min(known, finalBytes));
    }
  }

  /** Whether a live process writes the file. */
  write(file: string): boolean {
    return this.#finalBytes.has(resolve(file));
  }

  /** Whether a live process may still change the file at this byte. */
  mayChange(file: string, offset: number): boolean {
    return offset >= (this.#finalBytes.get(resolve(file)) ?? Infinity);
  }

  /** `process 4711 is`, `processes 4711 and 4712 are`. */
  get description(): string {
    return this.pids.length < 2
      ? `process ${this.pids[0] ?? 0} is`
      : `processes ${listed(this.pids.map(String))} are`;
  }
}
