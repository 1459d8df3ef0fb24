/** The greatest time that a Date has, in milliseconds. */
const MAX_DATE_MS = 8_640_000_000_000_000;

/**
 * An ISO time with nanoseconds: `2026-11-22T11:07:43.113456789Z`. A time beyond what a Date has, as
 * damaged traces do, is that of its limit.
 *
 * @param epoch in ns since 1970. @param offset ns added to it.
 */
export function isoTime(epoch: bigint, offset: number): string {
  const time = epoch + BigInt(Math.round(offset));
  const nanoseconds = ((time % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const milliseconds = Number((time - nanoseconds) / 1_000_000n);
  const limited = Math.min(Math.max(milliseconds, -MAX_DATE_MS), MAX_DATE_MS);
  const text = new Date(limited).toISOString();
  return `${text.slice(0, -1)}${String(nanoseconds).padStart(6, '0')}Z`;
}
