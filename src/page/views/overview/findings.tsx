import type { Finding } from '../../../look/report/shape/finding-shape.js';
import type { Report } from '../../../look/report/shape/report-shape.js';
import type { ReportedRow } from '../../../look/wire/panel-answers.js';
import { searchText } from '../../data/choice.js';
import { ViewLink } from '../../shell/view-link.js';
import { RowLink, TraceLink } from './report-links.js';

interface FindingsProps {
  report: Report;
  /** Of the longest stalls. */
  stalls: readonly ReportedRow[];
}

/** What is wrong, the worst first, and where to go on. */
export function Findings({ report, stalls }: FindingsProps) {
  const { findings, interruptions } = report;
  if (findings.length === 0) return <p class="quiet">No finding: no rule has fired.</p>;
  return (
    <ol class="findings" aria-label="Findings">
      {findings.map((finding) => {
        const { text, evidence, trace, section, rule } = finding;
        const route = routeOf(finding);
        const stall =
          rule !== 'blocking line'
            ? -1
            : interruptions.longest.findIndex(({ code, atStart }) => code !== null && !atStart);
        return (
          <li key={text}>
            <span class="finding">{text}</span> <span class="quiet">{evidence}</span>
            <span class="further">
              {route !== undefined && (
                <ViewLink view="route" target={{ parameters: route }}>
                  route
                </ViewLink>
              )}
              {trace !== null && <TraceLink id={trace} text={`trace ${trace.slice(0, 8)}`} />}
              {stall !== -1 && (
                <RowLink found={stalls[stall]} view="time-line">
                  time line
                </RowLink>
              )}
              {section !== null && <SectionLink name={section} />}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/** The parameters of the route that a finding is about; undefined: it is about none. */
function routeOf({ where }: Finding): Record<string, string> | undefined {
  const valueOf = (name: string): string | undefined =>
    where.find((term) => term.startsWith(`${name}=`))?.slice(name.length + 1);
  const name = valueOf('name');
  if (name === undefined) return undefined;
  return { name, service: valueOf('service') ?? '', where: searchText(where) };
}

function SectionLink({ name }: { name: string }) {
  return (
    <button
      type="button"
      class="link"
      onClick={() => {
        document.getElementById(`section-${name}`)?.scrollIntoView({ behavior: 'smooth' });
      }}
    >
      {name}
    </button>
  );
}
