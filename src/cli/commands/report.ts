import { join } from 'node:path';
import {
  compareRecordings,
  comparisonJson,
  comparisonText,
} from '../../look/compare/compare-recordings.js';
import type { ComparedIndex } from '../../look/compare/compare-recordings.js';
import { failureReasons, parseFailIf } from '../../look/compare/fail-if.js';
import type { FailIf } from '../../look/compare/fail-if.js';
import { TracewrightError } from '../../core/errors.js';
import { rangeOf } from '../../look/condition/time-point.js';
import { groupsBy } from '../../look/condition/where.js';
import { readReportFiles, reportPage } from '../../look/report/print/html-page.js';
import { reportOf } from '../../look/report/kept-report.js';
import { newestRuns } from '../../look/report/recording/newest-runs.js';
import type { ServiceRuns } from '../../look/report/shape/report-shape.js';
import { DEFAULT_SLOWEST, type ReportOptions } from '../../look/report/report.js';
import { endOf } from '../../look/report/measures/selection.js';
import { SECTION_NAMES, type SectionName } from '../../look/report/print/text/report-sections.js';
import { jsonReport, textReport } from '../../look/report/print/text/text-report.js';
import type { ReportChoice } from '../../look/report/print/text/text-report.js';
import { didYouMean } from '../../core/nearest-name.js';
import { findTraces } from '../../traces/find-traces.js';
import {
  type Command,
  EXIT_DONE,
  EXIT_FAILED,
  parseCommandLine,
  printMessage,
  UsageError,
} from '../command.js';
import {
  checkSelection,
  conditionHelp,
  conditionOptions,
  selectionTexts,
  withSignedTimes,
} from '../condition-options.js';
import { refusePartOf } from '../conversions/input-traces.js';
import { indexHelp, indexOptions, openIndex } from '../index-options.js';
import { checkInput, inputHelp, inputOptions, pathHelp } from '../input-options.js';
import { fileOutput, ownStyle, printLines } from '../output/text-output.js';

type CompareValues = Parameters<typeof checkSelection>[0] &
  Parameters<typeof checkInput>[0] &
  Parameters<typeof openIndex>[3] & {
    json?: boolean | undefined;
    by?: string[] | undefined;
    'fail-if'?: string | undefined;
  };

const MAX_SLOWEST = 100;
/** Earlier runs that are named. */
const MOST_RUNS = 5;
/** The index reports what cannot be searched. */
const ignore = (): void => undefined;

const SECTION_TEXTS: Readonly<Record<SectionName, string>> = {
  recordings: 'the traces that were read',
  losses: 'what was recorded and is not there',
  findings: 'what is wrong, the worst first',
  routes: 'rate, failures and latency of routes',
  waits: 'what the time of routes went to',
  callees: 'the calls of routes: databases, services, queues',
  errors: 'errors by type, message and line',
  pools: 'waits for connections, and who held these',
  mpi: 'calls and messages of MPI',
  slowest: 'the slowest traces as trees',
  stalls: 'blocked event loops, collections, and their code',
  processes: 'how processes ended',
  open: 'spans that were open at the end, or are now',
  threads: 'how busy threads were',
  profile: 'the code that ran (TRACEWRIGHT_PROFILE=cpu)',
  allocations: 'the code whose memory stays (=heap)',
  memory: 'heaps and processes: start, end, growth',
  cost: 'bytes on disk',
};

/** `tracewright report`. */
export const reportCommand: Command = {
  summary: 'say which requests were slow and why, and what is missing',
  help: `Usage: tracewright report PATH... [SELECTION] [--by GROUP]... [--slowest N]
                         [--exact] [--all | --section NAME...] [--all-runs]
                         [--json | --html FILE [--force]] [INDEX]
       tracewright report PATH... --against OTHER... [SELECTION]
                         [--by ATTRIBUTE]... [--fail-if CHANGES] [--json]
                         [INDEX]

SELECTION is [--since|--from TIME] [--until TIME] [--where CONDITION]...
INDEX is     [--ring-dir DIR]... [--cache DIR|off] [--clear-cache] [--format F]
             [--endian E]

Reports on the traces at PATH together, on one screen: what is wrong, routes,
causes of failure, code that blocks event loops, how processes ended, and what
is open. --all prints everything: also the slowest traces as trees, what routes
wait for, calls of MPI, what was lost, and how busy the threads were.

If PATH has several runs of a service, one after the other, the report is of the
newest one, and a message names the others.

With --against, compares PATH (after a change) with OTHER (before it): which
spans became slower, which faster, and by how much.

  tracewright report traces --where 'name=GET /orders/:id' --slowest 3
  tracewright report after --against before

${pathHelp}
  --against     compare with the traces at OTHER; can be repeated. --since +5m
                leaves out the first minutes of both sides
  --fail-if     end with 3 if something is worse than that, beyond chance:
                slower:20%, calls:2x, errors:new, with commas between them
  --json        one JSON object. Durations are in nanoseconds
  --html        write one page with figures and pictures to FILE, a new file,
                and print nothing. The page needs no network
  --by          group by route (default if there are requests), name (of every
                span), service, or the values of an attribute: db.query.text;
                of several with commas between them. attribute.user is one
                without a point. With --against, only attributes
${conditionHelp}  --slowest     how many traces to show; default 5, at most ${MAX_SLOWEST}
  --exact       exact percentiles. Otherwise they are within 1 %, and take less
                memory
  --all         every section in full
  --section     only this section; can be repeated:
${sectionHelp()}  --all-runs    of all runs together
  --force       replace FILE if it exists
${indexHelp}${inputHelp}  --help        print this text

Text is as wide as the terminal, or 100 columns in a file or pipe. COLUMNS
overrides the width, NO_COLOR turns colours off.

Exit codes
  0  done; what was lost is part of the report
  1  something cannot be read: standard error and the report name the file and
     the byte, and everything else is part of the report
  2  wrong usage, or nothing to read
  3  --fail-if: standard error names each reason
`,
  async run(args) {
    const { values, positionals } = parseCommandLine(
      withSignedTimes(args),
      {
        against: { type: 'string', multiple: true },
        'fail-if': { type: 'string' },
        json: { type: 'boolean' },
        html: { type: 'string' },
        by: { type: 'string', multiple: true },
        slowest: { type: 'string' },
        exact: { type: 'boolean' },
        all: { type: 'boolean' },
        section: { type: 'string', multiple: true },
        'all-runs': { type: 'boolean' },
        force: { type: 'boolean' },
        ...conditionOptions,
        ...indexOptions,
        ...inputOptions,
      },
      ['PATH...'],
    );
    const json = values.json === true;
    const { html: file } = values;
    if (json && file !== undefined) {
      throw new UsageError('--json and --html cannot be used together');
    }
    if (values.against !== undefined) {
      checkComparison(values);
      return compare(positionals, values.against, values);
    }
    if (values['fail-if'] !== undefined) {
      throw new UsageError('--fail-if needs --against');
    }
    const options: ReportOptions = {
      ...checkGroup(values.by),
      slowest: checkSlowest(values.slowest),
      exact: values.exact === true,
    };
    const choice = checkChoice(values);
    const selection = checkSelection(values);
    const form = checkInput(values);
    // Before what may take long: it fails if the file exists.
    if (file !== undefined) refusePartOf(findTraces(positionals, form, { onFault: ignore }), file);
    const page = file === undefined ? undefined : await fileOutput(file, values.force === true);
    let { index, exitCode } = await openIndex('report', positionals, form, values);
    // Several paths are as they were asked for.
    const isAll = values['all-runs'] === true || positionals.length > 1;
    const newest = isAll ? undefined : newestRuns(index);
    if (newest !== undefined) {
      index.close();
      printEarlierRuns(newest.services);
      ({ index, exitCode } = await openIndex('report', newest.paths, form, values));
    }
    const condition = {
      ...selection.condition,
      ...rangeOf(selection.range, { epoch: index.epoch, length: endOf(index) }),
    };
    const { report } = await reportOf(index, { ...options, condition }).finally(() => {
      index.close();
    });
    if (page !== undefined) {
      await page.write(reportPage(report, readReportFiles(join(__dirname, '..', 'page'))));
      await page.end();
      printMessage(`tracewright report: ${file!} is written`);
      return exitCode;
    }
    await printLines(
      json ? [jsonReport(report)] : textReport(report, ownStyle(), selectionTexts(values), choice),
    );
    return exitCode;
  },
};

/** Names the runs that the report is not of. */
function printEarlierRuns(services: readonly ServiceRuns[]): void {
  for (const { service, paths } of services) {
    const newest = paths.at(-1)!;
    const others = paths.slice(0, -1);
    const named = others.slice(-MOST_RUNS).join(', ');
    const further = others.length > MOST_RUNS ? `, and ${others.length - MOST_RUNS} before` : '';
    printMessage(
      `tracewright report: this is the newest run of ${service}, ${newest}. Left out: ${named}${further}. ` +
        `--all-runs reads all together, ${newest} --against ${others.at(-1)!} compares`,
    );
  }
}

/** @throws UsageError for what is no such condition. */
function checkFailIf(text: string): FailIf {
  try {
    return parseFailIf(text);
  } catch (error) {
    throw error instanceof TracewrightError ? new UsageError(error.message) : error;
  }
}

/** Sections in lines of a help text. */
function sectionHelp(): string {
  return SECTION_NAMES.map(
    (name) => `                ${name.padEnd(12)}${SECTION_TEXTS[name]}\n`,
  ).join('');
}

/** @throws UsageError for a section that does not exist. */
function checkChoice(values: {
  all?: boolean | undefined;
  section?: string[] | undefined;
  slowest?: string | undefined;
}): ReportChoice {
  const { all, section, slowest } = values;
  if (all === true && section !== undefined) {
    throw new UsageError('--all and --section cannot be used together');
  }
  if (section !== undefined) {
    return section.map((name) => {
      const known = SECTION_NAMES.find((each) => each === name);
      if (known !== undefined) return known;
      const hint = didYouMean(name, SECTION_NAMES) || `; use one of ${SECTION_NAMES.join(', ')}`;
      throw new UsageError(`--section ${JSON.stringify(name)} does not exist${hint}`);
    });
  }
  // Traces are asked for, and a screen has no room for them.
  return all === true || slowest !== undefined ? 'all' : 'screen';
}

/** Options that say what a report of one recording has. */
const NOT_COMPARED = ['html', 'slowest', 'exact', 'force', 'all', 'section', 'all-runs'] as const;

/** @throws UsageError for an option that a comparison does not have. */
function checkComparison(values: Readonly<Record<string, unknown>>): void {
  const wrong = NOT_COMPARED.find((name) => values[name] !== undefined);
  if (wrong !== undefined) throw new UsageError(`--${wrong} cannot be used with --against`);
}

/** Prints what became slower or faster. */
async function compare(
  paths: readonly string[],
  others: readonly string[],
  values: CompareValues,
): Promise<number> {
  const selection = checkSelection(values);
  const form = checkInput(values);
  const { by, attributes } = checkGroup(values.by);
  if (by !== undefined) throw new UsageError(`--by ${by} cannot be used with --against`);
  const failIf = values['fail-if'] === undefined ? undefined : checkFailIf(values['fail-if']);
  let exitCode = EXIT_DONE;
  const open = async (given: readonly string[]): Promise<ComparedIndex> => {
    const { index, exitCode: own } = await openIndex('report', given, form, values);
    exitCode = Math.max(exitCode, own);
    return {
      index,
      condition: {
        ...selection.condition,
        ...rangeOf(selection.range, { epoch: index.epoch, length: endOf(index) }),
      },
    };
  };
  const before = await open(others);
  try {
    const after = await open(paths);
    try {
      const comparison = await compareRecordings(before, after, attributes);
      const json = values.json === true;
      await printLines(
        json ? [comparisonJson(comparison)] : comparisonText(comparison, ownStyle()),
      );
      const reasons = failIf === undefined ? [] : failureReasons(comparison, failIf);
      for (const reason of reasons) printMessage(`tracewright report: ${reason}`);
      if (reasons.length > 0) exitCode = EXIT_FAILED;
    } finally {
      after.index.close();
    }
  } finally {
    before.index.close();
  }
  return exitCode;
}

/** Checks the values of `--by`. */
function checkGroup(given: readonly string[] = []): Pick<ReportOptions, 'by' | 'attributes'> {
  try {
    return groupsBy(given);
  } catch (error) {
    throw new UsageError(`--by ${(error as Error).message}`);
  }
}

function checkSlowest(text: string | undefined): number {
  if (text === undefined) return DEFAULT_SLOWEST;
  const count = Number(text);
  if (!/^\d+$/.test(text) || count > MAX_SLOWEST) {
    throw new UsageError(
      `--slowest must be a number from 0 to ${MAX_SLOWEST}, got ${JSON.stringify(text)}`,
    );
  }
  return count;
}
