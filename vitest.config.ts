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
  'test/core/recovery/{detached-ring,open-records,other-container,recovery-lock,ring-trust,unready-ring}.test.ts',
  'test/core/ring/teardown.test.ts',
  'test/cli/{replaced-files,special-files}.test.ts',
  'test/docs/**',
  'test/traces/empty-files.test.ts',
  'test/dumpi/{read/recover-without-ring,workers/trouble}.test.ts',
  'test/ovni/write/ended-workers.test.ts',
  'test/heph/read/{damaged-file,living-file,ring-claim}.test.ts',
  'test/spans/{clocks,garbage,keep/keeping,keep/workers}.test.ts',
  'test/core/recovery/waiting-records.test.ts',
  'test/traces/{laplace-formats,linear-time,live-traces}.test.ts',
  // Copies of the package in projects of their own, and counted instructions.
  'test/package/{copies,counted-instructions,demo,looking-without-binary,tarball,without-binary}.test.ts',
  // Commands and the index in more cases, and with other programs that read what they write.
  'test/cli/commands/{convert,dumpi,large-packet,report-mpi,several-services}.test.ts',
  'test/export/parquet.test.ts',
  'test/ship/{nats-target,parquet-target,metrics}.test.ts',
  'test/look/report/{called-services,compiled-program,duckdb,findings/{sick-shop,sick-programs},print/html/hostile-page,released-requests,stalls,print/text/hostile-text}.test.ts',
  'test/look/index/{growing-trace,hostile,cache/forged-index}.test.ts',
  // Processes that send to a receiver, and are killed.
  'test/ship/**',
  // The page in a browser.
  'test/page/{faults,live,live-services,other-pages}.test.ts',
  'test/page/{controls/legend,data/request-names}.test.ts',
  'test/page/views/**',
  'test/page/time-line/{lanes,lit-boxes,overview-strip,time-line,tracks}.test.ts',
  // Libraries that npm installs, and the servers that they ask.
  'test/libraries/!(child-process|versions).test.ts',
  // The hook, in more cases than each of its subjects needs once.
  'test/node/{process-end,settings}.test.ts',
  'test/node/otel/**',
  'test/node/run/{earlier-traces,process-trees,swapped-directories}.test.ts',
  'test/node/requests/{first-request,open-requests}.test.ts',
  'test/node/requests/context/{http2-calls,repeated-requests}.test.ts',
  'test/node/threads/{cpu-profile,event-loop,heap-end,rotation,rotation-faults,sleeps,stall-stacks,thread-activity}.test.ts',
];

/**
 * They read traces or start programs, and change nothing of their process: they share processes, and the modules
 * there. Loading these takes longer than most of the tests.
 */
const SHARED = [
  'test/{cli,core,export,libraries,look,node,package,page,rows,traces}/**/*.test.ts',
  'test/{dumpi,heph,laplace,ovni}/read/**/*.test.ts',
  'test/spans/{read,redaction}/**/*.test.ts',
];

/** Of these, what replaces modules, or changes settings that are read once. */
const OWN_PROCESS = [
  'test/cli/{usage-lines,commands/convert-traces}.test.ts',
  'test/core/options/wrong-first-argument.test.ts',
  'test/dumpi/read/reader.test.ts',
  'test/look/condition/older-names.test.ts',
  'test/node/run/brief-process.test.ts',
  'test/{page,traces}/fifth-format.test.ts',
  'test/spans/read/{open-when-read,vanishing-directories}.test.ts',
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
  const project = (
    name: string,
    test: { include: string[]; exclude: string[]; isolate?: boolean },
  ) => ({ extends: true, test: { ...test, name } }) as const;
  if (mode === 'long') {
    const include = LONG.map((each) => each.replace(/\*\*$/, '**/*.test.ts'));
    return [project('long', { include, exclude: [] })];
  }
  if (mode !== 'short') return [project('all', { include: [TESTS], exclude: [] })];
  const left = [...LONG, ...WITH_PACKAGES];
  return [
    project('shared', { include: SHARED, exclude: [...left, ...OWN_PROCESS], isolate: false }),
    project('short', { include: OWN_PROCESS, exclude: left }),
    project('writing', { include: [TESTS], exclude: [...left, ...SHARED] }),
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
