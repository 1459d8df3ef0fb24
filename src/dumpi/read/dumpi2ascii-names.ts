import type { FieldType } from '../calls.js';
import * as constants from '../constants.js';

/** How the format's own reader names the values of a type. */
interface ValueNames {
  /** The type as it is printed: `MPI_Comm`. */
  readonly type: string;
  nameOf(value: number): string;
}

type Values = Readonly<Record<string, number>>;

/** The name for each value of a set of constants, and one for all others. */
function names(
  values: Values,
  prefix: string,
  other: string,
  own: Values = {},
): ValueNames['nameOf'] {
  const table = new Map<number, string>();
  for (const [name, value] of Object.entries(values)) {
    if (name !== 'FIRST_USER') table.set(value, prefix + name);
  }
  for (const [name, value] of Object.entries(own)) table.set(value, name);
  return (value) => table.get(value) ?? other;
}

function named(type: string, ...of: Parameters<typeof names>): ValueNames {
  return { type, nameOf: names(...of) };
}

/** Those of a type with an error, whose name all unknown values have too. */
function orError(values: Values & { ERROR: number }, prefix: string, error: string): ValueNames {
  return named('int', values, prefix, error, { [error]: values.ERROR });
}

const assertions: readonly (readonly [number, string])[] = Object.entries(constants.WinAssert)
  .filter(([, bit]) => bit !== 0)
  .map(([name, bit]) => [bit, `MPI_MODE_${name}`]);
const ALL_ASSERTIONS = assertions.reduce((all, [bit]) => all | bit, 0);

/** Names of the bits that are set, in the order of the bits. */
function assertionNames(value: number): string {
  if (value < 0 || value > ALL_ASSERTIONS) return 'DUMPI_MODE_ERROR';
  if (value === 0) return 'DUMPI_MODE_NONE';
  return assertions
    .filter(([bit]) => (value & bit) !== 0)
    .map(([, name]) => name)
    .join('|');
}

const keyvals: ValueNames = named('int', constants.Keyval, 'MPI_', 'user-defined-keyval');

/** The types whose values are printed with a name after them. */
export const valueNames: Partial<Record<FieldType, ValueNames>> = {
  comm: named('MPI_Comm', constants.Comm, 'MPI_COMM_', 'user-defined-comm'),
  group: named('MPI_Group', constants.Group, 'MPI_GROUP_', 'user-defined-group'),
  datatype: named('MPI_Datatype', constants.Datatype, 'MPI_', 'user-defined-datatype', {
    MPI_DATATYPE_ERROR: constants.Datatype.ERROR,
    MPI_DATATYPE_NULL: constants.Datatype.NULL,
    MPI_2INT: constants.Datatype.TWO_INT,
  }),
  op: named('MPI_Op', constants.Op, 'MPI_', 'user-defined-op', {
    MPI_OP_ERROR: constants.Op.ERROR,
    MPI_OP_NULL: constants.Op.NULL,
  }),
  file: named('MPI_File', {}, '', 'user-file', { DUMPI_FILE_NULL: constants.File.NULL }),
  info: {
    type: 'MPI_Info',
    nameOf: (value) => (value >= constants.Info.FIRST_USER ? 'user-info' : 'MPI_INFO_NULL'),
  },
  win: named('int', {}, '', 'user-defined-win', { DUMPI_WIN_NULL: constants.Win.NULL }),
  errhandler: {
    type: 'int',
    nameOf(value) {
      if (value >= constants.Errhandler.FIRST_USER) return 'user-defined-errhandler';
      const isNull = value === constants.Errhandler.NULL;
      return isNull ? 'MPI_ERRHANDLER_NULL' : 'DUMPI_ERRHANDLER_ERROR';
    },
  },
  keyval: keyvals,
  commKeyval: keyvals,
  typeKeyval: keyvals,
  winKeyval: keyvals,
  comparison: named('int', constants.Comparison, 'MPI_', 'undefined-comparison', {
    MPI_COMPARISON_ERROR: constants.Comparison.ERROR,
  }),
  topology: orError(constants.Topology, 'MPI_', 'DUMPI_TOPOLOGY_ERROR'),
  combiner: named('int', constants.Combiner, 'MPI_COMBINER_', 'DUMPI_COMBINER_ERROR'),
  ordering: orError(constants.Ordering, 'MPI_ORDER_', 'DUMPI_ORDERING_ERROR'),
  filemode: orError(constants.FileMode, 'MPI_MODE_', 'DUMPI_FILEMODE_ERROR'),
  whence: orError(constants.Whence, 'MPI_SEEK_', 'DUMPI_WHENCE_ERROR'),
  locktype: orError(constants.LockType, 'MPI_LOCK_', 'DUMPI_LOCKTYPE_ERROR'),
  threadlevel: orError(constants.ThreadLevel, 'MPI_THREAD_', 'DUMPI_THREADLEVEL_ERROR'),
  typeclass: orError(constants.TypeClass, 'MPI_TYPECLASS_', 'DUMPI_TYPECLASS_ERROR'),
  winAssert: { type: 'int', nameOf: assertionNames },
};

/** The name of a datatype, as it precedes its size. */
export function datatypeName(handle: number): string {
  return valueNames.datatype!.nameOf(handle);
}
