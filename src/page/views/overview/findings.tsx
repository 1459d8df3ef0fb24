import { noFindingText } from '../../../look/report/print/report-texts.js';
import type { Report } from '../../../look/report/shape/report-shape.js';
import type { ReportedRow } from '../../../look/wire/view-answers.js';
import { RouteLink, RowLink, TraceLink } from '../../shell/view-link.js';

interface FindingsProps {
  report: Report;
  /** Of the longest stalls. */
  stalls: readonly ReportedRow[];
}

/** What is wrong, the worst first, and where to go on. */
export function Findings({ report, stalls }: FindingsProps) {
  const { findings, interruptions } = report;
  if (findings.length === 0) return <p class="quiet">No finding: {noFindingText(report)}</p>;
  return (
    <ol class="findings" aria-label="Findings">
      {findings.map((finding) => {
        const { text, evidence, trace, section, rule } = finding;
        const route = demanded(finding.where, 'name');
        const stall =
          rule !== 'blocking line'
            ? -1
            : interruptions.longest.findIndex(({ code, atStart }) => code !== null && !atStart);
        return (
          <li key={text}>
            <span class="finding">{text}</span> <span class="quiet">{evidence}</span>{' '}
            <span class="further">
              {route !== undefined && (
                <RouteLink
                  name={route}
                  service={demanded(finding.where, 'service') ?? null}
                  where={finding.where}
                >
                  route
                </RouteLink>
              )}
              {trace !== null && <TraceLink id={trace} text={`trace ${trace.slice(0, 8)}`} />}
              {stall !== -1 && (
                <RowLink found={stalls[stall]} view="time-line">
                  time line
                </RowLink>
              )}
              {section !== null && (
                // Collections are among the threads' figures; the stalls on the page are those of code.
                <SectionLink
                  name={section}
                  target={rule === 'collections' ? 'interruptions' : section}
                />
              )}
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/** A table to which one has come is marked for so many ms. */
const MARKED = 3000;

/** What `where` demands of `field`; undefined: nothing. */
function demanded(where: readonly string[], field: string): string | undefined {
  return where.find((term) => term.startsWith(`${field}=`))?.slice(field.length + 1);
}

/** Shows a table, and marks it: at the end of the page it cannot come to the top. */
function SectionLink({ name, target }: { name: string; target: string }) {
  return (
    <button
      type="button"
      class="link"
      onClick={() => {
        const section = document.getElementById(`section-${target}`);
        const folded = section?.closest('details');
        if (folded != null) folded.open = true;
        section?.scrollIntoView({ behavior: 'smooth' });
        section?.focus({ preventScroll: true });
        section?.animate({ backgroundColor: ['var(--range)', 'transparent'] }, MARKED);
      }}
    >
      {name}
    </button>
  );
}
