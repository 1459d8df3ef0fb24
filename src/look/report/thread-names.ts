import type { LookIndex, Track } from '../index/look-index.js';

/** Added to a thread's number by the ovni streams of its collections and its stalls. */
const COLLECTIONS_TID = 1_000_000_000;
const STALLS_TID = 1_500_000_000;
/** A track of ovni: the process, if the trace has several, then a name and the thread's number. */
const OVNI_TRACK = /^(?:(.*), )?(.*?) ?\(?thread (\d+)\)?$/;
const MAIN = 'main';

/** What an ovni track is about. */
interface OvniThread {
  process: string;
  name: string;
  tid: number;
  /** Whether it is a stream of the thread's own. */
  isOwn: boolean;
}

function ovniThread({ name }: Track): OvniThread | undefined {
  const [, process = '', own, number] = OVNI_TRACK.exec(name) ?? [];
  if (own === undefined) return undefined;
  const tid = Number(number);
  if (tid < COLLECTIONS_TID) return { process, name: own, tid, isOwn: true };
  const offset = tid < STALLS_TID ? COLLECTIONS_TID : STALLS_TID;
  return { process, name: own, tid: tid - offset, isOwn: false };
}

/** The number of the thread that a track of ovni is of, or that the hook has written it about. */
export function threadOfTrack(track: Track): number {
  return ovniThread(track)?.tid ?? track.thread;
}

/** Whether a track is of a stream that the hook writes about a thread, and no thread itself. */
export function isAboutThread(track: Track): boolean {
  return ovniThread(track)?.isOwn === false;
}

/** Names of the threads of an ovni trace, and the pids of its processes: the numbers of main threads. */
export class OvniThreads {
  readonly #names = new Map<string, string>();
  readonly #pids = new Map<string, number>();

  readonly #index: LookIndex;

  constructor(index: LookIndex) {
    this.#index = index;
    for (const track of index.tracks) {
      const thread = this.#threadOf(track);
      if (thread?.isOwn !== true || track.kind !== 'states') continue;
      const { process, name, tid } = thread;
      this.#names.set(`${track.source} ${tid}`, name);
      if (name === MAIN) this.#pids.set(`${track.source} ${process}`, tid);
    }
  }

  /** Undefined for a thread whose process is not known, and for tracks of other formats. */
  of(track: Track): { process: string; pid: number; name: string } | undefined {
    const thread = this.#threadOf(track);
    if (thread === undefined) return undefined;
    const pid = this.#pids.get(`${track.source} ${thread.process}`);
    const name = this.#names.get(`${track.source} ${thread.tid}`);
    return pid === undefined || name === undefined
      ? undefined
      : { process: thread.process, pid, name };
  }

  #threadOf(track: Track): OvniThread | undefined {
    const { content } = this.#index.sources[track.source]!;
    return content === 'states of threads' ? ovniThread(track) : undefined;
  }
}
