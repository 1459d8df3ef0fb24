// Projects of the bundlers' tests: what they have installed, how they are run, and what their traces
// must contain.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../../scripts/package-layout.mjs';

const { platform, arch } = process;
const binary =
  platform === 'linux'
    ? join(`${platform}-${arch}`, 'tracewright.glibc.node')
    : join(`${platform}-${arch}`, 'tracewright.node');

/**
 * The package as it is published.
 *
 * @param prebuilds directory with binaries; undefined: that of this platform, as it was built here.
 */
function installPackage(modules, prebuilds) {
  const target = join(modules, 'tracewright');
  for (const name of ['package.json', 'dist']) {
    cpSync(join(root, name), join(target, name), { recursive: true });
  }
  if (prebuilds !== undefined) {
    cpSync(prebuilds, join(target, 'prebuilds'), { recursive: true });
    return;
  }
  const addon = join(root, 'build', 'Release', 'tracewright.node');
  cpSync(addon, join(target, 'prebuilds', binary));
}

/** A project in a directory of its own. */
export class Project {
  /**
   * @param tools directory of the tools' packages.
   * @param files texts by name.
   * @param links the tools' packages that the project finds in its node_modules.
   * @param prebuilds see `installPackage`.
   */
  constructor(tools, files, links = [], prebuilds = undefined) {
    this.directory = mkdtempSync(join(tmpdir(), 'tracewright-bundled-'));
    this.tools = tools;
    for (const [name, text] of Object.entries(files)) this.write(name, text);
    const modules = join(this.directory, 'node_modules');
    mkdirSync(modules);
    installPackage(modules, prebuilds);
    for (const name of links) {
      mkdirSync(dirname(join(modules, name)), { recursive: true });
      symlinkSync(join(tools, name), join(modules, name));
    }
  }

  write(name, text) {
    const path = join(this.directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Runs a script of a tool, such as `webpack/bin/webpack.js`. */
  tool(script, args, env) {
    return this.node([join(this.tools, script), ...args], env);
  }

  remove(name) {
    rmSync(join(this.directory, name), { recursive: true });
  }

  /** As `run`, with Node. */
  node(args, env) {
    return this.run(process.execPath, args, env);
  }

  /**
   * @returns what the program prints.
   * @throws with that if it fails, or warns of anything of ours without `TRACEWRIGHT_TEST_WARNS`.
   */
  run(command, args, env = {}) {
    const { status, error, stdout, stderr } = spawnSync(command, args, {
      cwd: this.directory,
      encoding: 'utf8',
      maxBuffer: 64 << 20,
      timeout: 300_000,
      env: {
        PATH: process.env.PATH,
        HOME: this.directory,
        TRACEWRIGHT_QUIET: '1',
        TRACEWRIGHT_DIR: join(this.directory, 'run'),
        NEXT_TELEMETRY_DISABLED: '1',
        ...env,
      },
    });
    const warns = /Tracewright(Warning|Error)/.test(stderr);
    if (status !== 0 || (warns && env.TRACEWRIGHT_TEST_WARNS === undefined)) {
      throw new Error(
        `${command} ${args.join(' ')}: ${error?.message ?? status}\n${stdout}${stderr}`,
      );
    }
    return stdout + stderr;
  }

  /** Moves a part of the project where nothing is installed. */
  elsewhere(...parts) {
    const other = new Project(this.tools, {});
    other.remove('node_modules');
    for (const part of parts) {
      cpSync(join(this.directory, part), join(other.directory, part), { recursive: true });
    }
    return other;
  }

  /** Puts the package's binaries next to a bundle, as the guide says. */
  copyBinaries(directory) {
    const from = join(this.directory, 'node_modules', 'tracewright', 'prebuilds');
    cpSync(from, join(this.directory, directory, 'prebuilds'), { recursive: true });
  }

  /** How often something is in the dump of a trace that is acceptable. */
  count(trace, pattern) {
    const command = join(root, 'dist', 'cli', 'main.js');
    this.node([command, 'check', trace]);
    return (this.node([command, 'dump', trace]).match(pattern) ?? []).length;
  }

  /** Checks what a run of service.mjs has recorded. */
  expectTraces() {
    const found = {
      served: this.count('run/heph', /"?hello|\/hello/g),
      marks: this.count('run/ovni', /OM[[\]].*phase/g),
      work: this.count('own.heph', /\bwork\b/g),
    };
    const expected = { served: 6, marks: 2, work: 3 };
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      throw new Error(`recorded ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
    }
  }
}
