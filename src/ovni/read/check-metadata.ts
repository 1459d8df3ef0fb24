import { objectIn } from './metadata.js';
import { models } from '../catalog.js';
import type { ModelName } from '../catalog.js';
import type { FindingCollector } from './finding-collector.js';
import { MAX_LABEL_BYTES } from '../layout.js';
import type { MarkType } from './metadata.js';
import { hostOf } from './trace-directory.js';
import type { ThreadStream, TraceDirectory, TraceLoom } from './trace-directory.js';

/** The emulator takes indexes below this. */
const MAX_COUNTERS = 100;

/** The definitions by which the events of a trace are checked. */
export interface TraceDefinitions {
  /** CPUs of each loom: indexes 0 to this minus one exist. */
  readonly cpuCounts: ReadonlyMap<string, number>;
  /**
   * Models that some thread requires, and ovni's own, which is always required. Undefined, like the
   * marks, for a version 1 trace without the metadata that version 3 asks for.
   */
  readonly required: ReadonlySet<ModelName> | undefined;
  /** Mark types of all threads. */
  readonly marks: ReadonlyMap<number, 'stack' | 'single'> | undefined;
  /** Hardware counters of nosv; 0 if no thread names any. */
  readonly counters: number;
}

function checkCpus(trace: TraceDirectory, loom: TraceLoom, out: FindingCollector): number {
  const byPhyid = new Map<number, number>();
  const byIndex = new Map<number, number>();
  let declaring: string | undefined;
  const lists =
    trace.version === 1
      ? loom.processes.map(({ path, metadata }) => ({ path, cpus: metadata?.cpus }))
      : loom.processes.flatMap(({ threads }) =>
          threads.map(({ metadataPath, metadata }) => ({
            path: metadataPath,
            cpus: metadata.cpus,
          })),
        );
  for (const { path, cpus } of lists) {
    if (cpus === undefined) continue;
    if (trace.version === 1 && declaring !== undefined) {
      out.report('cpus', path, `loom ${loom.name} already has its CPUs from ${declaring}`);
      continue;
    }
    declaring = path;
    for (const { index, phyid } of cpus) {
      const sameIndex = byIndex.get(index);
      const samePhyid = byPhyid.get(phyid);
      if (trace.version === 3 && sameIndex === phyid && samePhyid === index) continue;
      if (samePhyid !== undefined) {
        out.report(
          'cpu-phyid',
          path,
          `CPU ${phyid} of loom ${loom.name} has the indexes ${samePhyid} and ${index}`,
        );
      }
      if (sameIndex !== undefined) {
        out.report(
          'cpus',
          path,
          `index ${index} of loom ${loom.name} is given to CPU ${sameIndex} and to CPU ${phyid}`,
        );
      }
      byIndex.set(index, phyid);
      byPhyid.set(phyid, index);
    }
  }
  if (byIndex.size === 0) {
    out.report(
      'cpus',
      loom.processes[0]?.path ?? trace.path,
      `no process of loom ${loom.name} says what CPUs the loom has`,
    );
  }
  let highest = -1;
  for (const index of byIndex.keys()) highest = Math.max(highest, index);
  if (highest >= byIndex.size) {
    out.report(
      'cpus',
      declaring ?? trace.path,
      `the CPU indexes of loom ${loom.name} must be 0 to ${byIndex.size - 1}, but go up to ${highest}`,
    );
  }
  return byIndex.size;
}

function checkProcesses(trace: TraceDirectory, loom: TraceLoom, out: FindingCollector): void {
  let ranked = 0;
  for (const { pid, path, threads, metadata } of loom.processes) {
    const sources =
      metadata === undefined
        ? threads.map((thread) => ({ path: thread.metadataPath, ...thread.metadata }))
        : [{ ...metadata, path }];
    let appId: number | undefined;
    let rank: number | undefined;
    let nranks: number | undefined;
    for (const source of sources) {
      if (source.appId !== undefined) {
        if (appId !== undefined && appId !== source.appId) {
          out.report(
            'application-id',
            source.path,
            `process ${pid} has the application ids ${appId} and ${source.appId}`,
          );
        }
        appId = source.appId;
      }
      if (source.rank === undefined) continue;
      if (source.nranks === undefined ? trace.version === 3 : source.rank >= source.nranks) {
        out.report(
          'rank',
          source.path,
          `process ${pid} has rank ${source.rank} of ${source.nranks ?? 'an unknown number of'} ranks`,
        );
      }
      if ((rank ?? source.rank) !== source.rank || (nranks ?? source.nranks) !== source.nranks) {
        out.report(
          'rank',
          source.path,
          `process ${pid} has rank ${source.rank} of ${source.nranks ?? '?'} here and ${rank ?? '?'} of ${nranks ?? '?'} elsewhere`,
        );
      }
      rank = source.rank;
      nranks = source.nranks;
    }
    if (appId === undefined) {
      out.report('application-id', path, `process ${pid} has no application id`);
    }
    if (rank !== undefined) ranked += 1;
  }
  if (ranked > 0 && ranked < loom.processes.length) {
    out.report(
      'rank',
      loom.processes[0]!.path,
      `${ranked} of ${loom.processes.length} processes of loom ${loom.name} have a rank: all or none`,
    );
  }
}

function checkRequire(
  { metadata, metadataPath }: ThreadStream,
  out: FindingCollector,
): ModelName[] {
  const found: ModelName[] = [];
  for (const [name, version] of metadata.require ?? []) {
    if (!Object.hasOwn(models, name)) continue;
    const model = name as ModelName;
    found.push(model);
    const wanted = /^([0-9]+)\.([0-9]+)\.([0-9]+)(?:[.-].*)?$/.exec(version);
    const [major, minor] = models[model].version.split('.').map(Number);
    if (wanted === null || version.length > 63) {
      out.report(
        'required-model',
        metadataPath,
        `the required version of ${name} must have three numbers, got ${JSON.stringify(version)}`,
      );
    } else if (Number(wanted[1]) !== major || Number(wanted[2]) > minor!) {
      out.report(
        'required-model',
        metadataPath,
        `version ${version} of ${name} is required; the emulator of this check has ${models[model].version}`,
      );
    }
  }
  return found;
}

/** Checks `nosv.hwc` of all threads, and returns how many hardware counters it names. */
function checkCounters(trace: TraceDirectory, out: FindingCollector): number {
  const names = new Map<number, string>();
  let count = 0;
  for (const { metadata, metadataPath } of trace.streams) {
    const counters = objectIn(metadata.json, 'nosv', 'hwc') ?? {};
    const entries = Object.entries(counters);
    if (entries.length === 0) continue;
    const report = (message: string): void => {
      out.report('counters', metadataPath, `nosv.hwc: ${message}`);
    };
    if (count === 0) count = entries.length;
    else if (count !== entries.length) {
      report(`${entries.length} counters here and ${count} elsewhere`);
    }
    for (const [key, value] of entries) {
      const index = /^\d+$/.test(key) ? Number(key) : NaN;
      if (!(index < Math.min(count, MAX_COUNTERS))) {
        report(`${shown(key)} is no number from 0 to ${Math.min(count, MAX_COUNTERS) - 1}`);
        continue;
      }
      const name = objectIn(value)?.['name'];
      const known = names.get(index);
      if (typeof name !== 'string') report(`counter ${index} has no name`);
      else if (known !== undefined && known !== name) {
        report(`counter ${index} is ${shown(name)} here and ${shown(known)} elsewhere`);
      } else names.set(index, name);
    }
  }
  return count;
}

/** A title or label in quotes, cut to a readable length. */
function shown(text: string): string {
  return JSON.stringify(text.length > MAX_LABEL_BYTES ? `${text.slice(0, 60)}…` : text);
}

function checkMarkTypes(
  trace: TraceDirectory,
  out: FindingCollector,
): ReadonlyMap<number, 'stack' | 'single'> {
  const channels = new Map<number, 'stack' | 'single'>();
  const titles = new Map<number, string>();
  const labels = new Map<number, Map<number, { value: bigint; label: string }>>();
  const tooLong = (text: string): boolean => Buffer.byteLength(text) > MAX_LABEL_BYTES;
  const check = (path: string, type: number, mark: MarkType): void => {
    const report = (message: () => string): void => {
      out.report('mark-type', path, () => `mark type ${type}: ${message()}`);
    };
    const title = titles.get(type);
    if (title !== undefined && title !== mark.title) {
      report(() => `titled ${shown(mark.title)} here and ${shown(title)} elsewhere`);
    }
    const channel = channels.get(type);
    if (channel !== undefined && channel !== mark.channel) {
      report(() => `a ${mark.channel} here and a ${channel} elsewhere`);
    }
    if (tooLong(mark.title)) report(() => `the title has more than ${MAX_LABEL_BYTES} bytes`);
    titles.set(type, title ?? mark.title);
    channels.set(type, channel ?? mark.channel);
    const known = labels.get(type) ?? new Map<number, { value: bigint; label: string }>();
    labels.set(type, known);
    for (const [value, label] of mark.labels) {
      // Values become 32-bit numbers in the emulator's output, where they must still differ.
      const short = Number(BigInt.asIntN(32, value));
      const other = known.get(short);
      if (other === undefined) {
        known.set(short, { value, label });
        if (tooLong(label))
          report(() => `the label of ${value} has more than ${MAX_LABEL_BYTES} bytes`);
      } else if (other.value !== value) {
        report(() => `the labelled values ${other.value} and ${value} have the same lower 32 bits`);
      } else if (other.label !== label) {
        report(
          () =>
            `value ${value} is labelled ${shown(label)} here and ${shown(other.label)} elsewhere`,
        );
      }
    }
  };
  for (const { metadata, metadataPath } of trace.streams) {
    for (const [type, mark] of metadata.marks) check(metadataPath, type, mark);
  }
  return channels;
}

/**
 * Checks whether the metadata files of a trace agree, and collects the definitions for its events.
 * Faults inside one file are found when that file is read.
 */
export function checkMetadata(trace: TraceDirectory, out: FindingCollector): TraceDefinitions {
  const cpuCounts = new Map<string, number>();
  for (const loom of trace.looms) {
    const { name } = loom;
    if (name.includes('/') || name === '' || Buffer.byteLength(name) >= 4096) {
      out.report(
        'loom-name',
        loom.processes[0]!.path,
        `a loom cannot be named ${JSON.stringify(name.slice(0, 60))}`,
      );
    }
    cpuCounts.set(name, checkCpus(trace, loom, out));
    checkProcesses(trace, loom, out);
  }
  const required = new Set<ModelName>(['ovni']);
  let described = trace.version === 3;
  for (const stream of trace.streams) {
    const { metadata, metadataPath } = stream;
    if (Object.keys(metadata.json).length > 0) described = true;
    if (!metadata.finished) {
      out.report(
        'not-finished',
        metadataPath,
        `thread ${stream.tid} is not marked finished: its stream may be incomplete`,
      );
    }
    for (const model of checkRequire(stream, out)) required.add(model);
    if (trace.version !== 3) continue;
    if (metadata.libraryVersion === undefined || metadata.libraryCommit === undefined) {
      out.report('library', metadataPath, 'ovni.lib must have a version and a commit');
    }
    if (metadata.require === undefined) {
      out.report('required-model', metadataPath, 'there is no ovni.require');
    }
  }
  const hosts = new Set(trace.looms.map(({ name }) => hostOf(name)));
  for (const host of trace.clockOffsets.keys()) {
    if (!hosts.has(host)) {
      out.report(
        'clock-offsets',
        trace.path,
        `clock-offsets.txt has host ${host}, which the trace does not have`,
      );
    }
  }
  const marks = checkMarkTypes(trace, out);
  return {
    cpuCounts,
    required: described ? required : undefined,
    marks: described ? marks : undefined,
    counters: required.has('nosv') ? checkCounters(trace, out) : 0,
  };
}
