/** A host as it is compared: an address of IPv6 has brackets and its shortest form. */
export function comparableHost(host: string): string {
  const name = host.toLowerCase();
  if (!name.includes(':')) return name;
  try {
    return new URL(`http://[${name.replace(/^\[|\]$/g, '')}]`).hostname;
  } catch {
    return name;
  }
}
