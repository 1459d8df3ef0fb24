import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readMetafile } from '../../../src/dumpi/metafile.js';
import { readCalls } from '../../../src/dumpi/read/reader.js';
import type { CallRecord } from '../../../src/dumpi/read/call-record.js';

/** The calls of each rank of a run, in the order of the ranks, which the metafile must number. */
export function ranksIn(directory: string): CallRecord[][] {
  const names = readdirSync(directory).sort();
  const [meta] = names.filter((name) => name.endsWith('.meta'));
  const files = names.filter((name) => name.endsWith('.bin'));
  expect(readMetafile(join(directory, meta!)).numprocs).toBe(files.length);
  return files.map((name) => [...readCalls(join(directory, name))]);
}

/** A message from a rank to another. */
interface Message {
  from: number;
  to: number;
  tag: number;
  count: number;
  comm: number;
}

interface MessageFields {
  dest?: number;
  source?: number;
  tag: number;
  count: number;
  comm: number;
}

/** Every message, as the one end or the other has it. */
export function messagesIn(ranks: CallRecord[][], call: 'MPI_Isend' | 'MPI_Irecv'): Message[] {
  return ranks.flatMap((calls, own) =>
    calls
      .filter(({ name }) => name === call)
      .map(({ fields }) => {
        const { dest, source, tag, count, comm } = fields as MessageFields;
        return { from: source ?? own, to: dest ?? own, tag, count, comm };
      }),
  );
}
