/** The last part of a path of any platform. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).at(-1)!;
}
