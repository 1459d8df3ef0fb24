/** A number of things in words: `1 event`, `1,024 events`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  const digits = String(count).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${digits} ${count === 1 ? one : many}`;
}
