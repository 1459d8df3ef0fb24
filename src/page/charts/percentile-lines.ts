/** How percentiles are drawn, wherever they are: the typical one is the thickest. */
export const PERCENTILE_LINES = [
  { title: 'p50', colour: 'text', width: 2, dash: [] },
  { title: 'p95', colour: 'lit', width: 1.5, dash: [] },
  { title: 'p99', colour: 'quiet', width: 1, dash: [3, 2] },
] as const;
