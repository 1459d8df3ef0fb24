let count = 0;

/** OpenTelemetry's rule: an argument that is wrong is ignored, and never thrown back at the program. */
export function countWrongArgument(): void {
  count++;
}

/** Arguments that were ignored in this thread, since its start. */
export function wrongArguments(): number {
  return count;
}
