import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import type { Plugin, TestProjectInlineConfiguration } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import type { TestSpecification } from 'vitest/node';
import { TestReports } from './test/reports.js';

const { version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/**
 * What the sources require late, from another file of the built package, is imported at once here:
 * the tests run the TypeScript as ES modules.
 */
const lateRequires: Plugin = {
  name: 'late-requires',
  enforce: 'pre',
  transform(code, id) {
    if (!/\/src\/.*\.ts$/.test(id)) return null;
    const imports: string[] = [];
    const changed = code.replaceAll(/\brequire\('(\.[^']+)'\)/g, (_, path: string) => {
      imports.push(`import * as late${imports.length} from '${path}';`);
      return `late${imports.length - 1}`;
    });
    return imports.length === 0 ? null : `${imports.join(' ')} ${changed}`;
  },
};

/** What `npm run test:long` runs. `npm test` runs the others, and a plain `vitest run` all. */
const LONG = [
  // Kills, and faults of disks, sockets and limits.
  'test/{ends,faults,torture}/**',
  'test/{dumpi,laplace,ovni}/read/recover.test.ts',
  'test/core/recovery/{detached-ring,open-records,other-container,recovery-lock,ring-and-file,ring-trust,unready-ring}.test.ts',
  'test/core/ring/teardown.test.ts',
  'test/cli/{replaced-files,special-files}.test.ts',
  'test/docs/**',
  'test/traces/empty-files.test.ts',
  'test/dumpi/{read/hostile,read/recover-without-ring,workers/pool,workers/trouble}.test.ts',
  'test/ovni/write/{ended-workers,workers}.test.ts',
  'test/laplace/write/{pipes,references}.test.ts',
  'test/otel/hostile-arguments.test.ts',
  'test/heph/read/{broken-frames,damaged-file,living-file,ring-claim}.test.ts',
  'test/spans/{bounded-spans,clocks,garbage,keep/in-slots,keep/keeping,keep/workers,read/scan-and-decoder}.test.ts',
  'test/core/recovery/waiting-records.test.ts',
  'test/traces/{laplace-formats,linear-time,live-traces}.test.ts',
  // Copies of the package in projects of their own, and counted instructions.
  'test/package/{layers,copies,counted-instructions,demo,looking-without-binary,tarball,without-binary}.test.ts',
  // Commands and the index in more cases, and with other programs that read what they write.
  'test/cli/{command-line,output/terminal-text}.test.ts',
  'test/cli/commands/{convert,convert-rings,convert-to-ovni3,convert-traces,dumpi,faulty-sources}.test.ts',
  'test/cli/commands/{large-packet,report-mpi,several-services}.test.ts',
  'test/export/{parquet,perfetto/perfetto-export}.test.ts',
  'test/ship/{nats-target,parquet-target,metrics}.test.ts',
  'test/look/report/{called-services,compiled-program,duckdb,print/html/hostile-page,released-requests,stalls,print/text/hostile-text}.test.ts',
  'test/look/index/{growing-trace,hostile,cache/cache,cache/forged-index}.test.ts',
  'test/look/report/living-processes.test.ts',
  // Processes that send to a receiver, and are killed.
  'test/ship/**',
  // The page in a browser.
  'test/page/{faults,live,live-services,other-pages}.test.ts',
  'test/page/{controls,data}/**',
  'test/page/views/**',
  'test/page/time-line/{failed-boxes,lanes,lit-boxes,overview-strip,samples,time-line,tracks}.test.ts',
  // Libraries that npm installs, and the servers that they ask.
  'test/libraries/!(child-process|injected-patterns|versions).test.ts',
  // The hook, in more cases than each of its subjects needs once.
  'test/node/{few-descriptors,process-end,program-of-pm2,settings,test-runner}.test.ts',
  'test/node/otel/**',
  'test/node/run/{earlier-traces,process-trees,swapped-directories}.test.ts',
  'test/node/requests/{first-request,open-requests}.test.ts',
  'test/node/requests/context/{http2-calls,repeated-requests}.test.ts',
  'test/node/threads/{cpu-profile,event-loop,heap-end,heap-limits,heap-profile,kept-stalls,memory-group}.test.ts',
  'test/node/threads/{only-workers,rotation,rotation-faults,sleeps,stall-stacks,thread-activity}.test.ts',
];

/** Of the long tests, those whose services are measured: nothing else runs meanwhile. */
const ALONE = ['test/look/report/findings/{sick-programs,sick-shop}.test.ts'];

/** They read traces and change nothing of their process. */
const READING = [
  'test/{cli,export,look,rows,traces}/**/*.test.ts',
  'test/{dumpi,heph,laplace,ovni}/read/**/*.test.ts',
  'test/spans/{read,redaction}/**/*.test.ts',
];

/** They start programs. */
const STARTING = ['test/{core,libraries,node,package}/**/*.test.ts'];

/** Of all these, what replaces modules, or changes settings that are read once. */
const OWN_PROCESS = [
  'test/cli/{usage-lines,commands/convert-traces}.test.ts',
  'test/core/options/wrong-first-argument.test.ts',
  'test/dumpi/read/reader.test.ts',
  'test/look/condition/older-names.test.ts',
  'test/look/report/{nested-servers,released-requests}.test.ts',
  'test/look/server/sample-boxes.test.ts',
  'test/node/run/brief-process.test.ts',
  'test/spans/{read/{open-when-read,vanishing-directories},redaction/redaction}.test.ts',
  'test/traces/fifth-format.test.ts',
];

/** They need packages that only `npm run test:frameworks` and `test:open-telemetry` install. */
const WITH_PACKAGES = ['test/node/{frameworks,open-telemetry}/**'];

const TESTS = 'test/**/*.test.ts';

/** The longest first: one that begins last would run alone. */
const FIRST = ['package/tarball', 'torture/', 'faults/', 'core/ring/teardown', 'node/'];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = FIRST.findIndex((name) => moduleId.includes(`/test/${name}`));
      return at === -1 ? FIRST.length : at;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

/** Which files a run has, and which of them share processes. */
function projectsOf(mode: string): TestProjectInlineConfiguration[] {
  const project = (name: string, test: NonNullable<TestProjectInlineConfiguration['test']>) =>
    ({ extends: true, test: { ...test, name } }) as const;
  if (mode === 'long') {
    const include = LONG.map((each) => each.replace(/\*\*$/, '**/*.test.ts'));
    return [
      project('long', { include, exclude: [] }),
      project('alone', { include: ALONE, exclude: [], sequence: { groupOrder: 1 }, maxWorkers: 1 }),
    ];
  }
  if (mode !== 'short') return [project('all', { include: [TESTS], exclude: [] })];
  const left = [...LONG, ...ALONE, ...WITH_PACKAGES];
  return [
    // Files of these share processes, and the modules there: loading takes longer than most of the tests.
    project('reading', { include: READING, exclude: [...left, ...OWN_PROCESS], isolate: false }),
    project('starting', { include: STARTING, exclude: [...left, ...OWN_PROCESS], isolate: false }),
    project('own process', { include: OWN_PROCESS, exclude: left }),
    project('others', { include: [TESTS], exclude: [...left, ...READING, ...STARTING] }),
  ];
}

export default defineConfig(({ mode }) => ({
  plugins: [lateRequires],
  define: { TRACEWRIGHT_VERSION: JSON.stringify(version) },
  test: {
    projects: projectsOf(mode),
    globalSetup: 'test/temporary-root.ts',
    // A skipped test is listed with the condition in its line.
    includeTaskLocation: true,
    // Rings, sockets and signals are process-wide: a long file gets a process of its own.
    pool: 'forks',
    // One more than processors: most of them wait for processes that they have started.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFirst },
    // Kills and faults come at moments that nobody chooses. What passes only then is listed.
    retry: 1,
    reporters: ['default', new TestReports()],
    // Where many tests run at once, any event loop stalls now and then.
    env: { TRACEWRIGHT_STALL_MS: 'off' },
    // As long as the tests wait for what the page shows: a second is short where many tests run.
    expect: { poll: { timeout: 10_000 } },
    // Of one file: they are services under load.
    maxConcurrency: 4,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
}));
