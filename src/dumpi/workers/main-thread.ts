import { syncBuiltinESMExports } from 'node:module';
import { resolve } from 'node:path';
import type { Worker, WorkerOptions } from 'node:worker_threads';
import { setAssignment } from './assignment.js';
import { nodeThreads } from './node-threads.js';
import { Peer } from './peer.js';
import { takePlace } from './place.js';
import type { Place } from './place.js';
import { RankRendezvous } from './rank-rendezvous.js';
import { completeRank, MAIN_RANK, openMainRank, writeRankCount } from './run-files.js';
import type { RunFiles } from './run-files.js';
import { loading } from './worker-options.js';

/** What the run knows of a worker that is a rank. */
interface Member {
  number: number;
  peer: Peer | undefined;
  ended: boolean;
}

/**
 * Makes the main thread rank 0, and traces the workers that it makes.
 *
 * @param module what workers import so that they are traced.
 */
export function traceMain(module: string): Place {
  const files: RunFiles = {
    startTime: new Date(),
    // Now: the program may change its directory before it makes its workers.
    directory: resolve(process.env['TRACEWRIGHT_DUMPI_DIR'] ?? '.'),
    fileRoot: '',
  };
  const rendezvous = new RankRendezvous();
  const place = takePlace(MAIN_RANK, rendezvous, () => openMainRank(files));
  const { trace } = place;
  const prefix = trace?.path.replace(/-\d+\.bin$/, '');
  rendezvous.addRank();

  const Untraced = nodeThreads.Worker;
  class TracedWorker extends Untraced {
    readonly #member: Member | undefined;

    constructor(filename: string | URL, options: WorkerOptions = {}) {
      // Node loads no module into a worker whose code is a text.
      const isRank = !options.eval;
      const number = rendezvous.ranks;
      const assigned = {
        number,
        rendezvous: rendezvous.state,
        files: trace === undefined ? undefined : files,
      };
      setAssignment(isRank ? assigned : undefined);
      super(filename, isRank && trace !== undefined ? loading(module, options) : options);
      setAssignment();
      if (!isRank) return;
      rendezvous.addRank();
      const peer = trace === undefined ? undefined : new Peer(trace, number);
      this.#member = { number, peer, ended: false };
      if (prefix !== undefined) writeRankCount(`${prefix}.meta`, rendezvous.ranks);
    }

    override postMessage(...all: Parameters<Worker['postMessage']>): void {
      const member = this.#member;
      // Node drops what is sent to a worker that has ended.
      if (member?.peer === undefined || member.ended) {
        super.postMessage(...all);
        return;
      }
      member.peer.send(all[0], () => {
        super.postMessage(...all);
      });
    }

    override terminate(...all: []): Promise<number> {
      if (this.#member !== undefined) rendezvous.endRank(this.#member.number);
      return super.terminate(...all);
    }

    override emit(event: string | symbol, ...values: unknown[]): boolean {
      // A worker that is still being made has no member yet.
      const member = #member in this ? this.#member : undefined;
      if (member !== undefined) {
        if (event === 'message') member.peer?.receive(values[0]);
        else if (event === 'messageerror') member.peer?.lose();
        else if (event === 'exit') {
          member.ended = true;
          rendezvous.endRank(member.number);
          if (prefix !== undefined) completeRank(prefix, files, member.number);
        }
      }
      return (super.emit as (name: string | symbol, ...rest: unknown[]) => boolean)(
        event,
        ...values,
      );
    }
  }
  Object.defineProperty(TracedWorker, 'name', { value: Untraced.name });
  (nodeThreads as { Worker: typeof Worker }).Worker = TracedWorker;
  syncBuiltinESMExports();
  return place;
}
