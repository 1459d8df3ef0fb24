import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endText } from '../../../src/look/report/print/report-texts.js';
import { reportOn } from '../../look/report/recorded-service.js';
import { TracedProcess } from '../traced-process.js';

const MOUNT = '/sys/fs/cgroup';
const isFirst = existsSync(join(MOUNT, 'memory/memory.limit_in_bytes'));
const LIMIT = 200 << 20;

/** A group of control of its own: where the machine lets it be made, and has controllers of memory. */
function newGroup(name: string): string | undefined {
  const directory = join(MOUNT, isFirst ? 'memory' : '', `tracewright-${process.pid}-${name}`);
  try {
    mkdirSync(directory);
    writeFileSync(join(directory, isFirst ? 'memory.limit_in_bytes' : 'memory.max'), String(LIMIT));
    if (!isFirst) writeFileSync(join(directory, 'memory.swap.max'), '0');
    return directory;
  } catch {
    return undefined;
  }
}

const probe = newGroup('probe');
if (probe !== undefined) rmdirSync(probe);

async function endsIn(group: string, args: string[], kill = false): Promise<string[]> {
  const service = new TracedProcess('growing-memory.mjs', {
    args,
    env: { TRACEWRIGHT_STALL_MS: '1000' },
    wrapper: ['sh', '-c', `echo $$ > ${join(group, 'cgroup.procs')} && exec "$@"`, 'sh'],
  });
  if (kill) {
    await service.printed(/grown/);
    service.kill('SIGKILL');
  }
  await service.ended();
  const { report } = await reportOn([service.directory]);
  return report.sources.map((source) => endText(source)).filter((text) => text !== '');
}

describe.skipIf(probe === undefined)('a process in a group that limits its memory', () => {
  it.concurrent.each<[name: string, args: string[], kill: boolean, ends: RegExp[]]>([
    ['alone', ['Infinity'], false, [/^was killed; its memory was at (9\d|100)(\.\d)? % of its/]],
    [
      'survived',
      ['outlive', 'Infinity'],
      false,
      [/^was killed for want of memory \(limit 200 MiB\)$/],
    ],
    ['killed by somebody', ['60'], true, [/^was killed$/]],
  ])('%s', async (name, args, kill, ends) => {
    const group = newGroup(name.replaceAll(' ', '-'))!;
    try {
      expect(await endsIn(group, args, kill)).toEqual(
        ends.map((each) => expect.stringMatching(each) as string),
      );
      const events = readFileSync(join(group, isFirst ? 'memory.oom_control' : 'memory.events'));
      expect(/^oom_kill (\d+)$/m.exec(String(events))![1]).toBe(kill ? '0' : '1');
    } finally {
      rmdirSync(group);
    }
  });
});
