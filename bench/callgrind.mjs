// Counts the instructions of a Node process's main thread by function, with Valgrind's callgrind.

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { onPath } from './http-turns.mjs';

/** Why nothing can be counted; undefined: it can. */
export const NOT_COUNTED =
  onPath('valgrind') && onPath('callgrind_control')
    ? undefined
    : 'valgrind and callgrind_control are not on the PATH';

/** Node writes it with --perf-basic-prof: where the code of each function lies. */
const mapOf = (/** @type {number} */ pid) => `/tmp/perf-${pid}.map`;

/**
 * The command that runs Node so that its instructions can be counted.
 *
 * @param {string} directory where the counts go.
 */
export function underCallgrind(directory) {
  return [
    'valgrind',
    '-q',
    '--tool=callgrind',
    '--smc-check=all-non-file',
    '--instr-atstart=no',
    '--separate-threads=yes',
    `--callgrind-out-file=${join(directory, 'callgrind')}`,
  ];
}

/**
 * @param {number} pid
 * @param {'--instr=on' | '--zero' | '--dump'} command
 */
export function controlCallgrind(pid, command) {
  const args = [command, String(pid)];
  const { status, stderr } = spawnSync('callgrind_control', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`callgrind_control ${args.join(' ')} failed: ${stderr}`);
}

/**
 * What the main thread of an ended process did until its first dump.
 *
 * @param {string} directory
 * @param {number} pid
 */
export function readInstructions(directory, pid) {
  const profile = readFileSync(join(directory, 'callgrind.1-01'), 'utf8');
  const map = readFileSync(mapOf(pid), 'utf8');
  rmSync(mapOf(pid));
  return instructionsOf(profile, map);
}

const NAMED = /^(c?)(fn|ob)=\((\d+)\)(?: (.*))?$/;
/** The code that V8 makes is in none. */
const UNKNOWN_BINARY = '???';
const COLLECTION = /\bHeap::PerformGarbageCollection\(/;

/**
 * @param {string} profile of callgrind.
 * @param {string} map of --perf-basic-prof.
 * @param {readonly string[]} [events] what is counted instead of instructions, by callgrind's names.
 * @returns {{ all: number, collector: number, functions: { code: string, binary: string, instructions: number }[] }}
 *   collector: with what it calls; functions: without what they call.
 */
export function instructionsOf(profile, map, events = ['Ir']) {
  const [, header = 'Ir'] = /^events: (.*)$/m.exec(profile) ?? [];
  const counted = header.split(' ').map((event) => events.includes(event));
  const names = { fn: new Map(), ob: new Map() };
  const current = { fn: '', ob: '', cfn: '', cob: '' };
  /** @type {Map<string, { name: string, binary: string, instructions: number }>} */
  const functions = new Map();
  let [all, collector, isCall] = [0, 0, false];
  for (const line of profile.split('\n')) {
    const named = NAMED.exec(line);
    if (named !== null) {
      const [, called, kind, id, name] = named;
      if (name !== undefined) names[kind].set(id, name);
      current[called + kind] = names[kind].get(id);
    } else if (line.startsWith('calls=')) {
      isCall = true;
    } else if (/^[+\-*\d]/.test(line)) {
      const [, ...costs] = line.split(' ');
      const instructions = costs.reduce((sum, cost, i) => sum + (counted[i] ? Number(cost) : 0), 0);
      if (!isCall) {
        all += instructions;
        const key = `${current.ob} ${current.fn}`;
        const own = functions.get(key) ?? { name: current.fn, binary: current.ob, instructions: 0 };
        own.instructions += instructions;
        functions.set(key, own);
      } else if (COLLECTION.test(current.cfn) && !COLLECTION.test(current.fn)) {
        collector += instructions;
      }
      isCall = false;
    }
  }
  const codeAt = codeOf(map);
  return {
    all,
    collector,
    functions: [...functions.values()].map(({ name, ...rest }) => ({
      code: rest.binary === UNKNOWN_BINARY ? codeAt(name) : name,
      ...rest,
    })),
  };
}

/** @param {string} map */
function codeOf(map) {
  const entries = map.split('\n').map((line) => {
    const [start, size, ...name] = line.split(' ');
    const from = Number.parseInt(start, 16);
    return { from, to: from + Number.parseInt(size, 16), name: name.join(' ') };
  });
  return (/** @type {string} */ name) => {
    if (!name.startsWith('0x')) return name;
    const address = Number.parseInt(name, 16);
    // V8 reuses the place of discarded code.
    return entries.findLast(({ from, to }) => from <= address && address < to)?.name ?? name;
  };
}
