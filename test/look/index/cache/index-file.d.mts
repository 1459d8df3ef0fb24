/** Where a column lies, as the header of a file says. */
export interface Place {
  type: string;
  length: number;
  offset: number;
  crc: number;
}

export interface Header {
  facts: unknown;
  columns: Record<string, Place>;
}

/** The text of the header, and the bytes of all columns. They share the file's memory. */
export function splitIndexFile(file: Buffer): { header: Buffer; columns: Buffer };

/** The file with another header and other columns. The checksum of the header is right. */
export function joinIndexFile(original: Buffer, header: Buffer, columns: Buffer): Buffer;

/** The bytes of one column, in the memory of all. */
export function columnAt(place: Place, columns: Buffer): Buffer;

/** Makes the checksums of columns right. Places that have been replaced by something else are left out. */
export function putChecksums(header: Header, columns: Buffer): void;
