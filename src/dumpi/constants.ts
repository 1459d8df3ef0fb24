/**
 * The numbers that stand for MPI's predefined handles and constants in a record (sst-dumpi 13.1). A
 * handle of the program's own gets a number from `FIRST_USER` of its kind on. `ERROR` is what the
 * format's library writes for a handle that it does not know.
 */

/** Communicators. */
export const Comm = {
  ERROR: 0,
  NULL: 1,
  WORLD: 2,
  SELF: 3,
  FIRST_USER: 4,
} as const;

/** Groups. */
export const Group = {
  ERROR: 0,
  NULL: 1,
  EMPTY: 2,
  FIRST_USER: 3,
} as const;

/** Datatypes. */
export const Datatype = {
  ERROR: 0,
  NULL: 1,
  CHAR: 2,
  SIGNED_CHAR: 3,
  UNSIGNED_CHAR: 4,
  BYTE: 5,
  WCHAR: 6,
  SHORT: 7,
  UNSIGNED_SHORT: 8,
  INT: 9,
  UNSIGNED: 10,
  LONG: 11,
  UNSIGNED_LONG: 12,
  FLOAT: 13,
  DOUBLE: 14,
  LONG_DOUBLE: 15,
  LONG_LONG_INT: 16,
  UNSIGNED_LONG_LONG: 17,
  LONG_LONG: 18,
  PACKED: 19,
  LB: 20,
  UB: 21,
  FLOAT_INT: 22,
  DOUBLE_INT: 23,
  LONG_INT: 24,
  SHORT_INT: 25,
  TWO_INT: 26,
  LONG_DOUBLE_INT: 27,
  FIRST_USER: 28,
} as const;

/** Operations of reductions. */
export const Op = {
  ERROR: 0,
  MAX: 1,
  MIN: 2,
  SUM: 3,
  PROD: 4,
  LAND: 5,
  BAND: 6,
  LOR: 7,
  BOR: 8,
  LXOR: 9,
  BXOR: 10,
  MINLOC: 11,
  MAXLOC: 12,
  REPLACE: 13,
  NULL: 14,
  FIRST_USER: 15,
} as const;

/** Requests. */
export const Request = {
  ERROR: 0,
  NULL: 1,
  FIRST_USER: 2,
} as const;

/** Requests of MPI I/O (`MPIO_Wait` and the like). */
export const IoRequest = {
  ERROR: 0,
  NULL: 1,
  FIRST_USER: 2,
} as const;

/** Files. */
export const File = {
  NULL: 0,
  FIRST_USER: 1,
} as const;

/** Windows. */
export const Win = {
  NULL: 0,
  FIRST_USER: 1,
} as const;

/** Infos. */
export const Info = {
  NULL: 0,
  FIRST_USER: 1,
} as const;

/** Error handlers. */
export const Errhandler = {
  ERROR: 0,
  NULL: 1,
  FIRST_USER: 2,
} as const;

/** Keys of attributes: of communicators, datatypes and windows alike. */
export const Keyval = {
  TAG_UB: 0,
  HOST: 1,
  IO: 2,
  WTIME_IS_GLOBAL: 3,
  UNIVERSE_SIZE: 4,
  LASTUSEDCODE: 5,
  APPNUM: 6,
  WIN_BASE: 7,
  WIN_SIZE: 8,
  WIN_DISP_UNIT: 9,
  FIRST_USER: 10,
} as const;

/** Results of comparing two groups or communicators. */
export const Comparison = {
  ERROR: 0,
  IDENT: 1,
  CONGRUENT: 2,
  SIMILAR: 3,
  UNEQUAL: 4,
} as const;

/** Topologies of a communicator. */
export const Topology = {
  ERROR: 0,
  GRAPH: 1,
  CART: 2,
  UNDEFINED: 3,
} as const;

/** How a datatype was made. */
export const Combiner = {
  ERROR: 0,
  NAMED: 1,
  DUP: 2,
  CONTIGUOUS: 3,
  VECTOR: 4,
  HVECTOR_INTEGER: 5,
  HVECTOR: 6,
  INDEXED: 7,
  HINDEXED_INTEGER: 8,
  HINDEXED: 9,
  INDEXED_BLOCK: 10,
  STRUCT_INTEGER: 11,
  STRUCT: 12,
  SUBARRAY: 13,
  DARRAY: 14,
  F90_REAL: 15,
  F90_COMPLEX: 16,
  F90_INTEGER: 17,
  RESIZED: 18,
} as const;

/** How a dimension of a distributed array is cut. */
export const Distribution = {
  ERROR: 0,
  BLOCK: 1,
  CYCLIC: 2,
  NONE: 3,
  DFLT_DARG: 4,
} as const;

/** Storage orders of arrays. */
export const Ordering = {
  ERROR: 0,
  C: 1,
  FORTRAN: 2,
} as const;

/** Modes of a file: numbers of one each, not bits as in MPI. */
export const FileMode = {
  ERROR: 0,
  RDONLY: 1,
  RDWR: 2,
  WRONLY: 3,
  CREATE: 4,
  EXCL: 5,
  DELETE_ON_CLOSE: 6,
  UNIQUE_OPEN: 7,
  SEQUENTIAL: 8,
  APPEND: 9,
} as const;

/** Origins of a file position. */
export const Whence = {
  ERROR: 0,
  SET: 1,
  CUR: 2,
  END: 3,
} as const;

/** Locks of a window. */
export const LockType = {
  ERROR: 0,
  SHARED: 1,
  EXCLUSIVE: 2,
} as const;

/** Assertions of a window, which may be or-ed. */
export const WinAssert = {
  NONE: 0,
  NOCHECK: 1,
  NOSTORE: 2,
  NOPUT: 4,
  NOPRECEDE: 8,
  NOSUCCEED: 16,
} as const;

/** Thread support. */
export const ThreadLevel = {
  ERROR: 0,
  SINGLE: 1,
  FUNNELED: 2,
  SERIALIZED: 3,
  MULTIPLE: 4,
} as const;

/** Classes of datatypes. */
export const TypeClass = {
  ERROR: 0,
  REAL: 1,
  INTEGER: 2,
  COMPLEX: 3,
} as const;

/** A source that matches any rank. */
export const ANY_SOURCE = -1;
/** A tag that matches any tag. */
export const ANY_TAG = -1;
/** The root of a collective call across an intercommunicator, at the root itself. */
export const ROOT = -2;
