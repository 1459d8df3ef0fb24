// Laplace: references in binary or as text, or kernel events; a file for each thread.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  checkKernelEvents,
  checkReferences,
  openKernelEvents,
  openReferences,
  readKernelEvents,
  readReferences,
  recoverTrace,
} from 'tracewright/laplace';
import { THREADS } from '../acknowledgements.mjs';

const references = (form) => ({
  open(path, options) {
    const trace = openReferences(path, { ...options, form });
    return (n) => {
      trace.store(n, 8, 1, n);
      if (n % 64 === 8) trace.load(n, 4, 1, 0);
    };
  },
  *numbers(path) {
    for (const { type, address } of readReferences(path, { form })) if (type === 'w') yield address;
  },
  check: (path) => checkReferences(path, { form }),
});

const kernelEvents = {
  open(path, options) {
    const trace = openKernelEvents(path, options);
    return (n) => {
      trace.schedule(n, n);
      if (n % 64 === 8) trace.copyOnWrite(n, 1, n);
    };
  },
  *numbers(path) {
    for (const { kind, timestamp } of readKernelEvents(path)) {
      if (kind === 'schedule') yield Number(timestamp);
    }
  },
  check: (path) => checkKernelEvents(path),
};

/** @param {'binary' | 'text' | 'kernel'} kind */
export function laplace(kind) {
  const trace = kind === 'kernel' ? kernelEvents : references(kind);
  const placesIn = (place) =>
    Array.from({ length: THREADS }, (_, thread) => ({
      thread,
      path: join(place, `laplace-${thread}.${kind}`),
    }));
  const filesIn = (place) => placesIn(place).filter(({ path }) => existsSync(path));
  return {
    name: `laplace-${kind}`,
    open: (place, thread, options) => trace.open(join(place, `laplace-${thread}.${kind}`), options),
    recover: (place) => ({
      // Also where there is no more than a ring.
      faults: placesIn(place).flatMap(({ path }) => recoverTrace(path).faults),
    }),
    isThere: (place) => filesIn(place).length > 0,
    read(place, visit) {
      for (const { thread, path } of filesIn(place)) {
        for (const n of trace.numbers(path)) visit(thread, n);
      }
    },
    check: (place) => filesIn(place).flatMap(({ path }) => [...trace.check(path)]),
    accept: () => undefined,
  };
}
