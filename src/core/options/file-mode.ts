/** Only the user of the process reads and writes. */
export const PRIVATE_FILE = 0o600;

/** The mode of a directory for files of a mode: who may read them may enter it, who may write may add. */
export function directoryMode(fileMode: number): number {
  return fileMode | ((fileMode & 0o444) >> 2);
}

/** Of a trace's files by default. */
export const PRIVATE_DIRECTORY = directoryMode(PRIVATE_FILE);
