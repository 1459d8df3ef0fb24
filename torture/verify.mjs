// Compares what a trace holds with what was acknowledged.

import { closeSync, existsSync, openSync, readSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { internal } from '../scripts/package-layout.mjs';
import { THREADS } from './acknowledgements.mjs';

const { core } = internal('core/addon');

/**
 * Files below a place that belong to nobody once a trace is complete. One that was to be a metadata file may stay where
 * the process died before it had one: no stream there says whose it is.
 */
export function leftBehind(place) {
  return readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const whole = /^\.(.*)\.new$/.exec(basename(name))?.[1];
    if (whole !== undefined) return existsSync(join(place, dirname(name), whole));
    return /\.(ring|finished)$/.test(name);
  });
}

/**
 * What the rings of a dead process say that they turned away, by the format's word for itself:
 * read before recovery, which removes them.
 */
export function droppedEvents(place) {
  const dropped = new Map();
  for (const name of readdirSync(place, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ring')) continue;
    const page = Buffer.alloc(core.control.bytes);
    const fd = openSync(join(place, name), 'r');
    readSync(fd, page, 0, page.length, 0);
    closeSync(fd);
    const format = page.toString(
      'latin1',
      core.control.format,
      page.indexOf(0, core.control.format),
    );
    const count = page.readDoubleLE(core.control.droppedEvents);
    dropped.set(format, (dropped.get(format) ?? 0) + count);
  }
  return dropped;
}

/**
 * What is wrong with a format's trace, in words; empty when every acknowledged event is in it once
 * and in order.
 *
 * @param acknowledged events by thread.
 * @param dropped events that the process has counted as dropped.
 */
export function verify(format, place, acknowledged, dropped) {
  const total = acknowledged.reduce((sum, count) => sum + count, 0);
  if (!format.isThere(place)) return total === 0 ? [] : [`${total} events and no trace`];
  const faults = [];
  const next = new Array(THREADS).fill(0);
  const found = new Array(THREADS).fill(0);
  try {
    format.read(place, (thread, n) => {
      if (dropped === 0 ? n !== next[thread] : n < next[thread]) {
        if (faults.length < 5) {
          faults.push(`thread ${thread}: event ${n} where ${next[thread]} belongs`);
        }
      }
      next[thread] = n + 1;
      found[thread]++;
    });
  } catch (error) {
    faults.push(`cannot be read: ${error.message}`);
  }
  // Of what was counted as dropped some are no numbered events, but states and marks.
  const kept = found.reduce((sum, count) => sum + count, 0);
  if (kept + dropped < total) {
    faults.push(`${total} acknowledged, ${kept} in the trace, ${dropped} counted as dropped`);
  }
  if (dropped === 0) {
    acknowledged.forEach((count, thread) => {
      if (found[thread] < count || found[thread] > count + 1) {
        faults.push(`thread ${thread}: ${count} acknowledged, ${found[thread]} in the trace`);
      }
    });
  }
  try {
    for (const finding of format.check(place)) {
      if (finding.severity === 'error' && faults.length < 8) {
        faults.push(
          `check: ${finding.rule}: ${finding.message} (${finding.path}, ${finding.offset})`,
        );
      }
    }
  } catch (error) {
    faults.push(`check: ${error.message}`);
  }
  const refused = format.accept(place);
  if (refused !== undefined) faults.push(refused);
  return faults;
}
