import { readPackets } from '../../src/heph/read/reader.js';
import { readStream } from '../../src/ovni/read/ordered-reader.js';
import { readTraceDirectory } from '../../src/ovni/read/trace-directory.js';

/** The numbers that the events of a Heph file carry, in the order of the file. */
export function hephNumbers(path: string): number[] {
  const numbers: number[] = [];
  for (const packet of readPackets(path)) {
    if (packet.kind === 'event') numbers.push(Number(packet.attributes[0]!.value));
  }
  return numbers;
}

/** The same of the one stream of an ovni trace. */
export function ovniNumbers(directory: string): number[] {
  const numbers: number[] = [];
  for (const stream of readTraceDirectory(directory).streams) {
    for (const event of readStream(stream.path, { version: stream.version })) {
      if (event.mcv === 'OB.') numbers.push(Buffer.from(event.payload).readUInt32LE(0));
    }
  }
  return numbers;
}

/** The first number that does not come after its predecessor; undefined when all do. */
export function outOfOrder(numbers: readonly number[]): number | undefined {
  return numbers.find((number, i) => i > 0 && number <= numbers[i - 1]!);
}
