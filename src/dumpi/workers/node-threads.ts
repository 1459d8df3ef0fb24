/** Node's own object of worker threads: its `Worker` is replaced. */
export const nodeThreads = process.getBuiltinModule('node:worker_threads');
