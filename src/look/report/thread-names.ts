import type { LookIndex, Source, Track } from '../index/look-index.js';

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

/** Hosts by pid, of the sources that say their host. */
function hostsByPid(sources: readonly Source[]): Map<number, Set<string>> {
  const hosts = new Map<number, Set<string>>();
  for (const { pid, host } of sources) {
    if (pid === undefined || host === undefined) continue;
    const known = hosts.get(pid);
    if (known === undefined) hosts.set(pid, new Set([host]));
    else known.add(host);
  }
  return hosts;
}

/** Names of the threads of an ovni trace, and the pids of its processes: the numbers of main threads. */
class OvniThreads {
  readonly #names = new Map<string, string>();
  readonly #pids = new Map<string, number>();

  constructor(tracks: readonly Track[]) {
    for (const track of tracks) {
      const thread = ovniThread(track);
      if (thread?.isOwn !== true || track.kind !== 'states') continue;
      const { process, name, tid } = thread;
      this.#names.set(`${track.source} ${tid}`, name);
      if (name === MAIN) this.#pids.set(`${track.source} ${process}`, tid);
    }
  }

  /** Undefined for a thread whose process is not known. */
  of(track: Track): { pid: number; name: string } | undefined {
    const thread = ovniThread(track);
    if (thread === undefined) return undefined;
    const pid = this.#pids.get(`${track.source} ${thread.process}`);
    const name = this.#names.get(`${track.source} ${thread.tid}`);
    return pid === undefined || name === undefined ? undefined : { pid, name };
  }
}

/** By number of a track: its thread, which has the same key in every format. */
export function threadKeys({ sources, tracks }: LookIndex): string[] {
  const hosts = hostsByPid(sources);
  const byNumber = new Map(sources.map((source) => [source.number, source]));
  const ovni = new OvniThreads(
    tracks.filter(({ source }) => byNumber.get(source)!.content === 'states of threads'),
  );
  return tracks.map((track) => {
    const { pid, host, path, content } = byNumber.get(track.source)!;
    const thread =
      content === 'states of threads' ? ovni.of(track) : pid && { pid, name: track.name };
    if (thread === undefined || thread === 0) return `${path}/${track.name}`;
    // Only Heph says the host.
    const known = hosts.get(thread.pid);
    const other = known?.size === 1 ? [...known][0] : undefined;
    return `${thread.pid} on ${host ?? other ?? ''}/${thread.name}`;
  });
}
