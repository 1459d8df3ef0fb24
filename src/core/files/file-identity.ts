import { core } from '../addon.js';

/** Which file lies at a path, whatever it is called later. */
export interface FileIdentity {
  /** Decimal; `0` if there is no file. */
  inode: string;
  /** Birth in nanoseconds since 1970, in decimal; `0` where the file system does not say. */
  born: string;
}

export function identityOf(path: string): FileIdentity {
  const [inode, born] = core.fileIdentity(path);
  return { inode: String(inode), born: String(born) };
}

/** Whether both are of one file, as far as they say. */
export function isSameFile(one: FileIdentity, other: FileIdentity): boolean {
  const agrees = one.born === other.born || one.born === '0' || other.born === '0';
  return one.inode === other.inode && agrees;
}
