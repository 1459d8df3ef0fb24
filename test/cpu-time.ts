/** Milliseconds of CPU that this process has used, with all of its threads: what else the machine does counts little. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
