import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writeBuilt } from '../../dumpi/trace-building.js';
import { execute, normal, T0, writeVersion3 } from '../../ovni/trace-building.js';
import { tracewright } from '../run-command.js';

const ESCAPE = '\u001b';
const CSI = '\u009b';
const folder = mkdtempSync(join(tmpdir(), 'tracewright-terminal-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

// eslint-disable-next-line no-control-regex -- what a terminal acts on, but for the end of a line
const ACTED_ON = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

/** Runs the command and gives what it said, which no terminal acts on and in which no line is forged. */
function saying(...args: string[]): string {
  const { stdout, stderr } = tracewright(...args);
  const said = stdout + stderr;
  expect(stderr).not.toContain('    at ');
  expect(said).not.toMatch(ACTED_ON);
  expect(said).not.toMatch(/^forged/m);
  return said;
}

describe('control characters of a trace and of its path', { timeout: 120_000 }, () => {
  const evil = `${ESCAPE}[2J${CSI}1m\nforged: acceptable`;
  const shown = '\\u001b[2J\\u009b1m\\u000aforged: acceptable';

  it('of an ovni trace', () => {
    const directory = join(folder, evil);
    mkdirSync(directory);
    const events = [execute(T0), normal('OHe', T0 + 1n)];
    const mark = { [evil]: {}, 3: { title: evil, chan_type: 'stack' } };
    writeVersion3([{ events, ovni: { loom: evil, mark } }], directory);
    expect(saying('check', directory)).toContain(`ovni.mark.${shown} must be a mark type`);
    expect(saying('check', '--json', directory)).toContain('u009b');
    expect(saying('dump', directory)).toContain(shown);
    saying('dump', '--json', directory);
    expect(saying('recover', directory)).toContain(`${shown}: not recovered`);
    saying('recover', '--json', directory);
    expect(saying('check', join(directory, 'none'))).toContain(shown);
  });

  it('of a DUMPI trace and of one that is none', () => {
    const directory = join(folder, `dumpi${evil}`);
    mkdirSync(directory);
    const path = writeBuilt(directory, 'run-0000.bin', { keyvals: [['key', evil]] });
    expect(saying('dump', path)).toContain('value=');
    for (const line of saying('dump', '--json', path).trim().split('\n')) JSON.parse(line);
    const broken = join(directory, 'broken.heph');
    writeFileSync(broken, 'no packet at all');
    expect(saying('dump', broken)).toContain(shown);
    expect(saying('convert', '--to', 'perfetto', broken, join(directory, 'out'))).toContain(shown);
  });
});
