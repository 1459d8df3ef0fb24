/** Runs for some milliseconds. */
export function block(milliseconds) {
  const until = performance.now() + milliseconds;
  while (performance.now() < until);
}
