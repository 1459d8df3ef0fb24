/** Version of the library that wrote a trace: major, minor, patch. */
export type Version = readonly [number, number, number];

/** The header: facts of the run (section T.2). */
export interface Header {
  version: Version;
  /** Start of the run in seconds since the Unix epoch. */
  startTime: bigint;
  hostname: string;
  username: string;
  /** Where the rank is in the machine's network; empty when that is not known. */
  meshCoordinates: number[];
  /** How large the network is in each dimension. */
  meshSizes: number[];
}

/** How often each call was made (section T.3); the index is the label, 290 is the total. */
export interface Footer {
  calls: number[];
  /** Of these, how often the call was not stored. */
  ignored: number[];
}

/** The name of a function that was traced (section T.7). */
export interface FunctionName {
  /** As the records of its entries and exits have it. */
  address: bigint;
  name: string;
}

/** Whether a version is `least` or newer. */
export function isAtLeast(version: Version, least: Version): boolean {
  for (let i = 0; i < 3; i++) {
    if (version[i] !== least[i]) return version[i]! > least[i]!;
  }
  return true;
}
