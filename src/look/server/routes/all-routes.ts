import type { Route } from '../route.js';
import { boxesRoute } from './boxes.js';
import { compareRoute } from './compare.js';
import { curvesRoute } from './curves.js';
import { findRoute } from './find.js';
import { latencyRoute } from './latency.js';
import { messagesRoute } from './messages.js';
import { overviewRoute } from './overview.js';
import { recordingRoute } from './recording.js';
import { reportRoute } from './report.js';
import { rowNamesRoute } from './row-names.js';
import { rowRoute } from './row.js';
import { tableRoute } from './table.js';
import { searchTermsRoute } from './search-terms.js';
import { traceRoute } from './trace.js';

/** Every route of data. Each is one file next to this one. */
const all: readonly Route[] = [
  recordingRoute,
  overviewRoute,
  boxesRoute,
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
