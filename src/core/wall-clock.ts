const NANOSECONDS = 1_000_000_000n;

/** Nanoseconds since the Unix epoch as a date and time of UTC with all nine digits. */
export function wallClock(epoch: bigint): string {
  const seconds = epoch / NANOSECONDS;
  const date = new Date(Number(seconds) * 1000).toISOString().slice(0, -'.000Z'.length);
  return `${date}.${(epoch % NANOSECONDS).toString().padStart(9, '0')}Z`;
}

/** Describes the time line of a trace that is drawn from `epoch` on. */
export function timeZeroLabel(epoch: bigint): string {
  return `time 0 is ${wallClock(epoch)} (${epoch.toString()} ns since 1970)`;
}
