// Two virtual processors may be the two threads of one core, and the other one may belong to another
// machine. No counter of this system shows that. Code that keeps the core busy then takes twice its
// time. So the same small work is timed again and again.

const STEPS = 15_000;
/** Slower than this, in relation to the core by itself, is disturbed. */
const TOLERANCE = 1.1;

/**
 * Four chains that do not wait for each other: what a second thread on the core slows down most.
 *
 * @param {number} steps
 */
function keepBusy(steps) {
  let a = 1;
  let b = 2;
  let c = 3;
  let d = 4;
  for (let i = 0; i < steps; i++) {
    a = (Math.imul(a, 3) + i) | 0;
    b = Math.imul(b, 5) ^ i;
    c = ((c << 3) + b) | 0;
    d ^= c + i;
  }
  return a + b + c + d;
}

let fastest = Infinity;

/** Nanoseconds of always the same work. */
export function probe() {
  const from = process.hrtime.bigint();
  keepBusy(STEPS);
  const ns = Number(process.hrtime.bigint() - from);
  fastest = Math.min(fastest, ns);
  return ns;
}

/**
 * Whether a probe had the core to itself, by the fastest one of the process so far.
 *
 * @param {number} ns
 */
export function undisturbed(ns) {
  return ns <= TOLERANCE * fastest;
}
