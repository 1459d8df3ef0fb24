import { render } from 'preact';
import { timeText } from '../look/report/measures/units.js';
import type { Report } from '../look/report/shape/report-shape.js';
import { applyTheme } from './theme/theme.js';
import { ReportFigures } from './views/overview/report-figures.js';

/** The report of `tracewright report --html`: the Overview without a server. */
const report = JSON.parse(document.getElementById('report')!.textContent) as Report;

applyTheme('system');
render(
  <main id="view-overview" class="view file">
    <h1>Tracewright report</h1>
    <p class="quiet">
      {timeText(report.from)} to {timeText(report.to)}. Percentiles are{' '}
      {report.exact ? 'exact' : 'within 1 %'}.
    </p>
    <ReportFigures report={report} />
  </main>,
  document.getElementById('page')!,
);
