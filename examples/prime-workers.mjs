// Worker threads that count primes, so that the thread which serves does not have to.

import { isMainThread, parentPort, Worker } from 'node:worker_threads';

/** A fixed number of worker threads, each with one task at a time. */
export class PrimeWorkers {
  #idle = [];
  #tasks = [];

  /** @param {number} size */
  constructor(size) {
    for (let i = 0; i < size; i++) {
      const worker = new Worker(new URL(import.meta.url));
      worker.unref();
      this.#idle.push(worker);
    }
  }

  /**
   * The number of primes below a limit.
   *
   * @param {number} below
   * @returns {Promise<number>}
   */
  count(below) {
    return new Promise((resolve, reject) => {
      this.#tasks.push({ below, resolve, reject });
      this.#assign();
    });
  }

  #assign() {
    if (this.#idle.length === 0 || this.#tasks.length === 0) return;
    const worker = this.#idle.pop();
    const { below, resolve, reject } = this.#tasks.shift();
    const failed = (error) => reject(error);
    worker.once('error', failed);
    worker.once('message', (primes) => {
      worker.off('error', failed);
      this.#idle.push(worker);
      resolve(primes);
      this.#assign();
    });
    worker.postMessage(below);
  }
}

/** The sieve of Eratosthenes. */
function countPrimes(below) {
  const composite = new Uint8Array(below);
  let count = 0;
  for (let n = 2; n < below; n++) {
    if (composite[n]) continue;
    count++;
    for (let multiple = n * n; multiple < below; multiple += n) composite[multiple] = 1;
  }
  return count;
}

if (!isMainThread) parentPort.on('message', (below) => parentPort.postMessage(countPrimes(below)));
