// Runs the programs of this folder under the hook and under OpenTelemetry's SDK, and compares their spans with what
// each program expects. README.md says how a program is written.
//
//   node test/programs/run.mjs [--node VERSION] [--jobs N] [--only hook | open-telemetry] [--trees] [NAME …]
//
// NAME: a folder, or a program as `express5/mounted-router`. `--trees` prints what both tracers say.

import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import net from 'node:net';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import vm from 'node:vm';
import { otherNode, VERSION } from '../../scripts/other-node.mjs';
import { comparable, projectionOf } from './projection.mjs';
import { doTask } from './runner-tasks.mjs';

const USAGE = `Usage: npm run test:programs -- [--node VERSION] [--jobs N] [--only hook | open-telemetry] [--trees] [NAME …]

Runs the programs under the hook and under OpenTelemetry's SDK, and compares their spans with what each expects.

  --node VERSION   Runs them on another Node, such as 22 (default: 24).
  --jobs N         Runs N at once (default: one more than there are cores).
  --only TRACER    Runs one tracer: hook, or open-telemetry.
  --trees          Prints what both tracers recorded.
  NAME             A folder, or a program such as express5/mounted-router.
`;

const here = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname);
const root = dirname(dirname(here));
const work = join(root, 'build', 'programs');
/** In a folder that has a script `build`: what that was run with. */
const BUILT = 'built';
const PATIENCE_MS = 60_000;
/** Runs of a program whose times count: while others have the CPU, a line of code blocks nobody. */
const TIMED_RUNS = 3;
/** What others do meanwhile may be over. */
const PAUSE_MS = 5_000;
/** Share of a route's time from which on a wait is compared. */
const LEAST_WAIT = 0.3;
/** Nothing is asked of others than the registry: Prisma's command needs no engine to generate a client. */
const BUILD_ENVIRONMENT = {
  ...process.env,
  CHECKPOINT_DISABLE: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  NODE_ENV: 'production',
  PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
};
const PORTS = { postgresql: 5432, mysql: 3306, redis: 6379, rabbitmq: 5672, nats: 4222 };

function optionsOf() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        node: { type: 'string', default: '24' },
        jobs: { type: 'string', default: String(availableParallelism() + 1) },
        only: { type: 'string' },
        trees: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(USAGE);
      process.exit(0);
    }
    if (!VERSION.test(values.node)) throw new Error(`--node must be a version, is ${values.node}`);
    if (!/^[1-9]\d?$/.test(values.jobs))
      throw new Error(`--jobs must be 1 to 99, is ${values.jobs}`);
    if (values.only !== undefined && !['hook', 'open-telemetry'].includes(values.only)) {
      throw new Error(`--only must be hook or open-telemetry, is ${values.only}`);
    }
    return { ...values, names: positionals };
  } catch (error) {
    process.stderr.write(`${error.message}\n\n${USAGE}`);
    return process.exit(2);
  }
}

/** A literal that a program exports; it is read, not imported: the program runs in a process of its own. */
function literal(text, name) {
  const begin = `export const ${name} =`;
  const at = text.indexOf(`\n${begin}`);
  if (at === -1) return undefined;
  const rest = text.slice(at + 1 + begin.length);
  const end = /;\n/.exec(rest);
  return vm.runInNewContext(`(${rest.slice(0, end?.index)})`);
}

/** Every program, by folder and name. */
function allPrograms() {
  const folders = readdirSync(here, { withFileTypes: true }).filter((each) => each.isDirectory());
  return folders.flatMap(({ name: folder }) =>
    readdirSync(join(here, folder))
      .map((file) => ({
        file,
        text: file.endsWith('.mjs') ? readFileSync(join(here, folder, file), 'utf8') : '',
      }))
      .filter(({ text }) => text.includes('\nexport async function run('))
      .map(({ file, text }) => ({
        name: `${folder}/${basename(file, '.mjs')}`,
        folder: join(work, folder),
        path: join(work, folder, file),
        expected: literal(text, 'expected')?.trim(),
        waits: literal(text, 'waits')?.trim(),
        difference: literal(text, 'difference'),
        alone: literal(text, 'alone'),
        environment: literal(text, 'environment') ?? {},
        needs: literal(text, 'needs') ?? [],
        nodes: literal(text, 'nodes'),
      })),
  );
}

/** Copies the programs to build/programs, and installs what they need where that has changed. */
function install() {
  mkdirSync(work, { recursive: true });
  for (const entry of readdirSync(work)) {
    if (!/^(node_modules|package-lock\.json|installed)$/.test(entry)) {
      const isKept = ['node_modules', BUILT].some((each) => existsSync(join(work, entry, each)));
      if (!isKept) rmSync(join(work, entry), { recursive: true, force: true });
    }
  }
  cpSync(here, work, { recursive: true });
  const manifests = ['', ...readdirSync(work)]
    .map((folder) => join(work, folder, 'package.json'))
    .filter((path) => existsSync(path) && !path.includes('node_modules'))
    .map((path) => `${path}\n${readFileSync(path, 'utf8')}`)
    .join('\n');
  const stamp = join(work, 'installed');
  const link = join(work, 'node_modules', 'tracewright');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== manifests) {
    process.stderr.write('Installing what the programs need (some minutes the first time) ...\n');
    rmSync(link, { force: true });
    const { status } = spawnSync(
      'npm',
      [
        'install',
        '--no-audit',
        '--no-fund',
        '--no-package-lock',
        '--legacy-peer-deps',
        '--loglevel',
        'error',
      ],
      // sqlite3 is compiled where npm finds no binary of it.
      { cwd: work, stdio: ['ignore', 2, 2], env: { ...process.env, JOBS: 'max' } },
    );
    if (status !== 0) process.exit(status ?? 1);
    writeFileSync(stamp, manifests);
  }
  if (!existsSync(link)) symlinkSync(root, link);
  for (const folder of readdirSync(here)) build(folder);
}

/** Runs a folder's script `build`, if what it builds has changed since the last time. Programs are not built. */
function build(folder) {
  const manifest = join(here, folder, 'package.json');
  if (!existsSync(manifest) || !JSON.parse(readFileSync(manifest, 'utf8')).scripts?.build) return;
  const state = readdirSync(join(here, folder), { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile() && !/(?<!\.config)\.mjs$/.test(each.name))
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
    .join('\n');
  const stamp = join(work, folder, BUILT);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return;
  process.stderr.write(`Building ${folder} ...\n`);
  const { status, stdout } = spawnSync('npm', ['run', 'build'], {
    cwd: join(work, folder),
    env: BUILD_ENVIRONMENT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 2],
  });
  if (status !== 0) {
    process.stderr.write(stdout);
    process.exit(status ?? 1);
  }
  writeFileSync(stamp, state);
}

const answers = (port) =>
  new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

/** Runs a program under a tracer. @returns its projection, or why there is none. */
async function runUnder(tracer, program, node) {
  const directory = mkdtempSync(join(tmpdir(), 'tracewright-program-'));
  const preload =
    tracer === 'hook'
      ? ['--require', join(root, 'dist', 'node', 'register.js')]
      : ['--import', pathToFileURL(join(work, 'open-telemetry.mjs')).href];
  const child = spawn(
    node,
    [...preload, join(work, 'start.mjs'), pathToFileURL(program.path).href],
    {
      cwd: program.folder,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        ...(tracer === 'hook'
          ? {
              TRACEWRIGHT_DIR: directory,
              TRACEWRIGHT_CONTEXT: 'on',
              TRACEWRIGHT_QUIET: '1',
              ...program.environment,
            }
          : {
              PROGRAM_SPANS: directory,
              PROGRAM_FOLDER: program.folder,
              OTEL_SEMCONV_STABILITY_OPT_IN: 'http,database',
            }),
      },
    },
  );
  let output = '';
  child.stdout.on('data', (part) => (output += part));
  child.stderr.on('data', (part) => (output += part));
  const endings = [];
  let ports;
  child.on('message', (message) => {
    if (message.ports !== undefined) {
      ports = new Map(message.ports);
      return;
    }
    // The program may have ended meanwhile.
    const answer = (given) => child.connected && child.send({ id: message.id, ...given }, () => {});
    void doTask(message, (end) => endings.push(end)).then(
      (result) => answer({ answer: result }),
      (error) => answer({ error: String(error) }),
    );
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS);
  const [code, signal] = await new Promise((resolve) =>
    child.once('close', (...all) => resolve(all)),
  );
  clearTimeout(timer);
  for (const end of endings) end();
  try {
    if (ports === undefined || code !== 0) {
      const why =
        signal === 'SIGKILL'
          ? `did not end within ${PATIENCE_MS / 1000} s`
          : `ended with ${code ?? signal}`;
      return { failure: `${why}\n${output.trim().slice(-2000)}` };
    }
    const spans = tracer === 'hook' ? await hookSpans(directory) : openTelemetrySpans(directory);
    const waits = tracer === 'hook' && program.waits !== undefined ? waitsOf(directory) : undefined;
    return { tree: projectionOf(spans, ports), waits };
  } catch (error) {
    return { failure: String(error.stack) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** What the report says that each route waited for, from LEAST_WAIT on, the longest first. */
function waitsOf(directory) {
  const command = [join(root, 'dist', 'cli', 'main.js'), 'report', '--json', directory];
  const { stdout, stderr } = spawnSync(process.execPath, command, { encoding: 'utf8' });
  if (stdout === '') throw new Error(stderr);
  const lines = JSON.parse(stdout).groups.map(({ name, waitedFor }) => {
    const long = waitedFor.filter(({ share }) => share >= LEAST_WAIT);
    return `${name}: ${long.map((each) => (each.isItself ? 'itself' : each.name)).join(', ')}`;
  });
  return lines.sort().join('\n');
}

async function hookSpans(directory) {
  const { readSpans } = await import(pathToFileURL(join(root, 'dist', 'spans', 'index.mjs')).href);
  const spans = [];
  for await (const span of readSpans(directory)) {
    spans.push({
      ...span,
      scope: span.scope?.name,
      links: span.links.length,
      failed: span.status.code === 'error' || span.attributes['error.type'] !== undefined,
    });
  }
  return spans;
}

function openTelemetrySpans(directory) {
  return readdirSync(directory).flatMap((file) =>
    readFileSync(join(directory, file), 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  );
}

/** Lines that only one of two trees has, marked. */
function changes(expected, seen) {
  return `  expected:\n${indented(expected)}\n  recorded:\n${indented(seen)}`;
}

const indented = (tree) => (tree === '' ? '    (nothing)' : tree.replaceAll(/^/gm, '    '));

const options = optionsOf();
const chosen = allPrograms().filter(
  ({ name }) =>
    options.names.length === 0 ||
    options.names.some((each) => name === each || name.startsWith(`${each}/`)),
);
if (chosen.length === 0) {
  process.stderr.write(`No program is named ${options.names.join(', ')}.\n`);
  process.exit(2);
}
install();
const node = join(otherNode(options.node), 'node');
const up = Object.fromEntries(
  await Promise.all(Object.entries(PORTS).map(async ([name, port]) => [name, await answers(port)])),
);
const counts = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
const differences = [];

function report(kind, name, text = '') {
  counts[kind] += 1;
  if (kind === 'failed') failures.push(`FAILED: program ${name}`);
  const word = { passed: 'holds', failed: 'WRONG', skipped: 'SKIPPED' }[kind];
  process.stdout.write(`${word} ${name}${text === '' ? '' : `: ${text}`}\n`);
}

/** Under the hook; as often as needed, where the times count. */
async function hookRun(program) {
  let run = await runUnder('hook', program, node);
  for (let runs = 1; runs < TIMED_RUNS && run.waits !== program.waits; runs += 1) {
    const seen = run.failure ?? run.waits.replaceAll('\n', '; ');
    process.stdout.write(`again ${program.name}: ${seen}\n`);
    await sleep(PAUSE_MS);
    run = await runUnder('hook', program, node);
  }
  return run;
}

async function runProgram(program) {
  const { name, expected, difference, alone, needs, nodes } = program;
  const missing = needs.filter((each) => up[each] !== true);
  if (missing.length > 0) {
    const isRequired = process.env.TRACEWRIGHT_TEST_SERVERS === 'required';
    report(isRequired ? 'failed' : 'skipped', name, `${missing.join(', ')} does not answer`);
    return;
  }
  if (nodes !== undefined && Number.parseInt(options.node, 10) < nodes) {
    report('skipped', name, `needs Node ${nodes}`);
    return;
  }
  if (expected === undefined) {
    report('failed', name, 'it exports no `expected`');
    return;
  }
  const problems = [];
  let own;
  if (options.only !== 'open-telemetry') {
    own = await hookRun(program);
    if (own.failure !== undefined) problems.push(`under the hook it ${own.failure}`);
    else if (own.tree !== expected) problems.push(`under the hook\n${changes(expected, own.tree)}`);
    else if (own.waits !== program.waits)
      problems.push(`in the report\n${changes(program.waits, own.waits)}`);
  }
  let other;
  if (options.only !== 'hook' && alone === undefined) {
    other = await runUnder('open-telemetry', program, node);
    const isEqual = other.tree !== undefined && comparable(other.tree) === comparable(expected);
    if (other.failure !== undefined && difference === undefined) {
      problems.push(`under OpenTelemetry it ${other.failure}`);
    } else if (!isEqual && difference === undefined) {
      problems.push(
        `OpenTelemetry differs, and no line says who is right\n${changes(expected, other.tree)}`,
      );
    } else if (isEqual && difference !== undefined) {
      problems.push('OpenTelemetry records the same: `difference` is out of date');
    }
    if (difference !== undefined)
      differences.push({ name, difference, tree: other.tree ?? other.failure });
  }
  report(problems.length > 0 ? 'failed' : 'passed', name, problems.join('\n'));
  if (options.trees) {
    if (own?.tree !== undefined) process.stdout.write(`  hook:\n${indented(own.tree)}\n`);
    if (other?.tree !== undefined)
      process.stdout.write(`  OpenTelemetry:\n${indented(other.tree)}\n`);
  }
}

const queue = chosen.filter(({ waits }) => waits === undefined);
await Promise.all(
  Array.from({ length: Number(options.jobs) }, async () => {
    for (let program = queue.shift(); program !== undefined; program = queue.shift())
      await runProgram(program);
  }),
);
// Of these the times count: each has the machine for itself.
for (const program of chosen.filter(({ waits }) => waits !== undefined)) await runProgram(program);
if (differences.length > 0) {
  process.stdout.write(
    `\n${differences.length} programs that OpenTelemetry records differently:\n`,
  );
  for (const { name, difference } of differences.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    process.stdout.write(`- ${name}: ${difference}\n`);
  }
}
if (process.env.TRACEWRIGHT_TEST_COUNTS !== undefined) {
  appendFileSync(process.env.TRACEWRIGHT_TEST_COUNTS, `${JSON.stringify({ counts, failures })}\n`);
}
process.stdout.write(
  `\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
);
process.exitCode = counts.failed > 0 ? 1 : 0;
