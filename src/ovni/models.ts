/** The models by name: the first letter of their MCVs, and the version of the catalog. */
export const models = {
  ovni: { id: 'O', version: '1.1.0' },
  kernel: { id: 'K', version: '1.0.0' },
  mpi: { id: 'M', version: '1.0.0' },
  nanos6: { id: '6', version: '1.1.0' },
  nodes: { id: 'D', version: '1.0.0' },
  nosv: { id: 'V', version: '2.7.0' },
  openmp: { id: 'P', version: '1.2.1' },
  tampi: { id: 'T', version: '1.0.0' },
} as const;

export type Models = typeof models;
export type ModelName = keyof Models;
