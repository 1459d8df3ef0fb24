import type { RunFiles } from './run-files.js';

/** Node's own object of worker threads: its `Worker` is replaced. */
export const nodeThreads = process.getBuiltinModule('node:worker_threads');

/** A worker's rank and run, from its environment data, of which it gets a copy when it is made. */
export interface Assignment {
  number: number;
  /** The state of the run's `RankRendezvous`. */
  rendezvous: Int32Array;
  /** Undefined in a run that is not traced. */
  files: RunFiles | undefined;
  /** `process.execArgv` as the program chose it, without what loads this module. */
  execArgv: string[];
}

const KEY = 'tracewright.dumpi';

/** Gives an assignment to the workers that are made from now on; undefined: none. */
export function setAssignment(assigned?: Assignment): void {
  nodeThreads.setEnvironmentData(KEY, assigned);
}

/** The assignment of this worker, if it has one. Workers that it makes get none. */
export function takeAssignment(): Assignment | undefined {
  const assigned = nodeThreads.getEnvironmentData(KEY) as unknown;
  setAssignment();
  return assigned as Assignment | undefined;
}
