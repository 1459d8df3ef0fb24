import { runOf } from '../../../traces/run-directory.js';
import type { LookIndex, Source, Track } from '../../index/look-index.js';
import type { ThreadOfProcess } from '../shape/thread-shape.js';
import { OvniThreads } from '../names/thread-names.js';

/** When the rows of a source begin and end, in ns of the index. */
export interface SourceTimes {
  begin: number;
  end: number;
}

/** A process, with all that it has recorded in traces of any format. */
interface RecordedProcess {
  readonly number: number;
  readonly service: string | undefined;
  readonly host: string | undefined;
  readonly pid: number | undefined;
  /** Numbers of sources. One with threads of several processes is in each of them. */
  readonly sources: number[];
}

/** A thread of the process that has recorded a source. */
export function threadOfProcess({ service, pid }: Source, thread: string): ThreadOfProcess {
  return { service: service ?? null, pid: pid ?? null, thread };
}

/** By number of a source; both 0 if it has no rows. */
export function timesOfSources({ sources, parts }: LookIndex): SourceTimes[] {
  const times = sources.map(() => ({ begin: Infinity, end: -Infinity }));
  for (const { source, count, firstStart, lastEnd, offset } of parts) {
    if (count === 0) continue;
    const own = times[source.number]!;
    own.begin = Math.min(own.begin, firstStart + offset);
    own.end = Math.max(own.end, lastEnd + offset);
  }
  return times.map((own) => (own.begin > own.end ? { begin: 0, end: 0 } : own));
}

/**
 * Which process has recorded what. Traces of spans are of one process if they have one pid, host and service, and
 * their times overlap. The ovni trace of a run has the processes of the run by their pids.
 */
export class Processes {
  readonly all: RecordedProcess[] = [];
  /** By number of a track: the number of its process. */
  readonly ofTracks: readonly number[];
  readonly #sources: readonly Source[];
  readonly #times: readonly SourceTimes[];
  readonly #bySource = new Map<number, RecordedProcess>();
  readonly #ofThreads = new Map<string, number>();
  /** Of ovni, by source and the name of the process in there. */
  readonly #ofOvniProcesses = new Map<string, RecordedProcess>();

  constructor(index: LookIndex, times = timesOfSources(index), threads = new OvniThreads(index)) {
    this.#sources = index.sources;
    this.#times = times;
    for (const source of index.sources) {
      if (source.content !== 'states of threads')
        this.#bySource.set(source.number, this.#of(source));
    }
    const ofTrack = (track: Track): number => {
      const source = index.sources[track.source]!;
      const thread = threads.of(track);
      const own =
        thread === undefined ? this.ofSource(source.number) : this.#ofOvni(source, thread);
      this.#ofThreads.set(`${track.source} ${track.thread}`, own.number);
      return own.number;
    };
    // First the threads of which the process is known.
    const tracks = index.tracks.toSorted(
      (a, b) => Number(threads.of(a) === undefined) - Number(threads.of(b) === undefined),
    );
    const numbers = new Map(tracks.map((track) => [track, ofTrack(track)]));
    this.ofTracks = index.tracks.map((track) => numbers.get(track)!);
  }

  /** The process of all that a source has, or of what of it is of no process that is known. */
  ofSource(number: number): RecordedProcess {
    const known = this.#bySource.get(number);
    if (known !== undefined) return known;
    const own = this.all.filter(({ sources }) => sources.includes(number));
    const process = own.length === 1 ? own[0]! : this.#add(this.#sources[number]!, undefined);
    this.#bySource.set(number, process);
    return process;
  }

  /** The number of the process of all that a source has; null: it has threads of several. */
  onlyOf(number: number): number | null {
    const own = this.all.filter(({ sources }) => sources.includes(number));
    return own.length > 1 ? null : this.ofSource(number).number;
  }

  /** The number of the process of a curve. */
  ofCounter({ source, thread }: { source: number; thread: number }): number {
    return this.#ofThreads.get(`${source} ${thread}`) ?? this.ofSource(source).number;
  }

  #add({ number, service, host }: Source, pid: number | undefined): RecordedProcess {
    const process = { number: this.all.length, service, host, pid, sources: [number] };
    this.all.push(process);
    return process;
  }

  /** The process of a source that says its process. */
  #of(source: Source): RecordedProcess {
    const { pid, service, host } = source;
    const same = this.all.find(
      (other) =>
        pid !== undefined &&
        other.pid === pid &&
        other.service === service &&
        other.host === host &&
        this.#overlaps(other, source),
    );
    if (same === undefined) return this.#add(source, pid);
    same.sources.push(source.number);
    return same;
  }

  /** @param process its name, which begins with the loom, if the trace has several. */
  #ofOvni(source: Source, { process, pid }: { process: string; pid: number }): RecordedProcess {
    const key = `${source.number} ${process}`;
    const known = this.#ofOvniProcesses.get(key);
    if (known !== undefined) return known;
    const run = runOf(source.path);
    const found = this.all.find(
      (each) =>
        run !== undefined &&
        each.pid === pid &&
        each.sources.some((number) => runOf(this.#sources[number]!.path) === run),
    );
    if (found?.sources.includes(source.number) === false) found.sources.push(source.number);
    const own = found ?? this.#add(source, pid);
    this.#ofOvniProcesses.set(key, own);
    return own;
  }

  #overlaps({ sources }: RecordedProcess, source: Source): boolean {
    const own = this.#times[source.number]!;
    return sources.some((number) => {
      const { begin, end } = this.#times[number]!;
      const areTold = this.#sources[number]!.isAligned && source.isAligned;
      return areTold && begin <= own.end && own.begin <= end;
    });
  }
}

/** By number of a track: its thread, which has the same key in every trace of spans. */
export function threadKeys(index: LookIndex): string[] {
  const { ofTracks } = new Processes(index);
  return index.tracks.map(({ kind, number, name, source }) =>
    kind === 'thread' ? `${ofTracks[number]}/${name}` : `${index.sources[source]!.path}/${name}`,
  );
}
