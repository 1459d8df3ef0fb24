/** Height of a row in pixels, as all heights here: where texts have their usual size. */
export const ROW_HEIGHT = 24;
/** Browsers draw no element that is higher than some 16 million pixels, so a long table is scaled. */
const MOST_HEIGHT = 8_000_000;

/** Height of what is scrolled, in pixels. */
export function scrollHeight(total: number): number {
  return Math.min(MOST_HEIGHT, total * ROW_HEIGHT);
}

/** The first row that is shown, a fraction while it is scrolled out in part. */
export function firstRow(scrollTop: number, viewHeight: number, total: number): number {
  const most = scrollHeight(total) - viewHeight;
  if (most <= 0) return 0;
  return (Math.min(scrollTop, most) / most) * (total - viewHeight / ROW_HEIGHT);
}

/** Where to scroll so that a row is shown first. */
export function scrollTopOf(row: number, viewHeight: number, total: number): number {
  const last = total - viewHeight / ROW_HEIGHT;
  if (last <= 0) return 0;
  return (Math.max(0, Math.min(row, last)) / last) * (scrollHeight(total) - viewHeight);
}
