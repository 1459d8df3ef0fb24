import type { LookIndex, Track } from '../../index/look-index.js';

/** A track of ovni: the process, if the trace has several, then a name and the thread's number. */
const OVNI_TRACK = /^(?:(.*), )?(.*?) ?\(?thread (\d+)\)?$/;
const MAIN = 'main';

/** The process and the thread of an ovni track. */
interface OvniThread {
  process: string;
  name: string;
  tid: number;
}

function ovniThread({ name }: Track): OvniThread | undefined {
  const [, process = '', own, number] = OVNI_TRACK.exec(name) ?? [];
  return own === undefined ? undefined : { process, name: own, tid: Number(number) };
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
      if (thread === undefined || track.kind !== 'states') continue;
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
