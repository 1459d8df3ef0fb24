import type { Route } from '../route.js';
import { boxesRoute, curvesRoute, litRoute, messagesRoute, overviewRoute } from './time-line.js';
import { compareRoute, reportRoute } from './report.js';
import { findRoute } from './find.js';
import { latencyRoute } from './latency.js';
import { recordingRoute } from './recording.js';
import { rowNamesRoute, rowRoute } from './row.js';
import { tableRoute } from './table.js';
import { searchTermsRoute } from './search-terms.js';
import { traceRoute } from './trace.js';

/** Every route of data, by the panel or the picture that asks. */
const all: readonly Route[] = [
  recordingRoute,
  overviewRoute,
  boxesRoute,
  litRoute,
  curvesRoute,
  messagesRoute,
  rowRoute,
  rowNamesRoute,
  findRoute,
  searchTermsRoute,
  tableRoute,
  latencyRoute,
  traceRoute,
  reportRoute,
  compareRoute,
];

export const routes: ReadonlyMap<string, Route> = new Map(all.map((route) => [route.path, route]));
