const whole = new Intl.NumberFormat('en');

/** A number of things, in words: `1 event`, `1,024 events`. */
export function counted(count: number, what: string): string {
  return `${whole.format(count)} ${what}${count === 1 ? '' : 's'}`;
}
