/** MPI_UNDEFINED of MPICH and Open MPI: the call has found none of its requests complete. */
const UNDEFINED = -32_766;

/** Which of its requests a call has found complete, if the value of a field is wrong. */
export interface WrongIndex {
  /** The field, with the element of an array: `indices[1]`. */
  field: string;
  value: number;
  limit: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** The field with the indices of a call, if it has one. */
const INDEX_FIELDS: Readonly<Record<string, 'index' | 'indices' | undefined>> = {
  MPI_Waitany: 'index',
  MPI_Testany: 'index',
  MPI_Waitsome: 'indices',
  MPI_Testsome: 'indices',
  MPIO_Waitany: 'index',
  MPIO_Testany: 'index',
  MPIO_Waitsome: 'indices',
  MPIO_Testsome: 'indices',
};

/** Whether calls of a name say which of their requests are complete. */
export function hasIndices(name: string): boolean {
  return INDEX_FIELDS[name] !== undefined;
}

/**
 * The first index of a call that is not that of one of its requests, or that occurs twice: MPI counts
 * from 0, also in Fortran's traces.
 *
 * @param fields of the call, as a program gives them or as a reader reads them.
 */
export function wrongIndexOf(name: string, fields: object): WrongIndex | undefined {
  const field = INDEX_FIELDS[name];
  if (field === undefined) return undefined;
  const { count, flag, outcount, [field]: given } = fields as Fields;
  const requests = Math.max(0, Number(count));
  const limit = requests === 0 ? 'none, for there are no requests' : `0 to ${requests - 1}`;
  if (field === 'index') {
    const index = Number(given);
    if (flag === 0 || index === UNDEFINED || (index >= 0 && index < requests)) return undefined;
    return { field, value: index, limit: `${limit}, or ${UNDEFINED} (MPI_UNDEFINED)` };
  }
  if (Number(outcount) > requests) {
    return { field: 'outcount', value: Number(outcount), limit: `at most ${requests}, as count` };
  }
  const seen = new Set<number>();
  for (const [i, index] of ((given ?? []) as readonly number[]).entries()) {
    const isOne = index >= 0 && index < requests && !seen.has(index);
    if (!isOne) return { field: `indices[${i}]`, value: index, limit: `${limit}, each once` };
    seen.add(index);
  }
  return undefined;
}
