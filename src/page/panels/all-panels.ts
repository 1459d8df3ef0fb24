import { comparePanel } from './compare/compare-panel.js';
import { detailsPanel } from './details-panel.js';
import { findPanel } from './find/find-panel.js';
import { latencyPanel } from './latency/latency-panel.js';
import type { Panel } from './panel.js';
import { recordingPanel } from './recording-panel.js';
import { reportPanel } from './report/report-panel.js';
import { tablePanel } from './table/table-panel.js';
import { tracePanel } from './trace/trace-panel.js';

/** Every panel, in the order of its tabs. */
export const panels: readonly Panel[] = [
  reportPanel,
  findPanel,
  detailsPanel,
  tracePanel,
  tablePanel,
  latencyPanel,
  comparePanel,
  recordingPanel,
];
