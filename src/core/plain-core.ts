import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { NativeCore } from './native-core.js';
import type { NativeRing } from './native-ring.js';
import { controlLayout } from './control-layout.js';
import { noCounts, noGroupCounts, noGroupState } from './no-counts.js';

/**
 * Takes the place of the native core where there is no binary for it. Readers, converters and
 * recovery need a few functions of the operating system, which are here in plain JavaScript. Rings
 * record nothing: they never have room.
 */

function nothing(): void {
  // There is no ring, drain thread or signal handler to reach.
}

/** A ring that is spent from the start, and so never has room. */
function openRing(): NativeRing {
  const buffer = new ArrayBuffer(controlLayout.bytes);
  const dataOffset = controlLayout.bytes;
  return {
    id: 0,
    spent: true,
    buffer,
    dataOffset,
    commit: nothing,
    readStamp: nothing,
    putWords: nothing,
  };
}

/** As native/file/replace_file.cc. */
function replaceFile(path: string, content: string, mode?: number): void {
  const fresh = join(dirname(path), `.${basename(path)}.new`);
  rmSync(fresh, { force: true });
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  const replaced = lstatSync(path, { throwIfNoEntry: false });
  const fd = openSync(fresh, O_WRONLY | O_CREAT | O_EXCL, mode ?? 0o600);
  try {
    if (mode === undefined && replaced !== undefined) fchmodSync(fd, replaced.mode & 0o666);
    writeFileSync(fd, content);
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

function fileIdentity(path: string): BigUint64Array {
  const status = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return BigUint64Array.of(status?.ino ?? 0n, status?.birthtimeNs ?? 0n);
}

/** Whether a live process has the ring locked, as far as this machine shows the locks of others. */
function ringIsHeld(fd: number): boolean {
  try {
    const { ino } = fstatSync(fd);
    const locks = readFileSync('/proc/locks', 'latin1').split('\n');
    return locks.some((line) => line.includes(' FLOCK ') && line.includes(`:${ino} `));
  } catch {
    return false;
  }
}

function systemThreadId(): number {
  try {
    return Number(basename(readlinkSync('/proc/thread-self')));
  } catch {
    const { isMainThread, threadId } = process.getBuiltinModule('node:worker_threads');
    return isMainThread ? process.pid : process.pid + threadId;
  }
}

function firstIndex(count: number, test: (index: number) => boolean): number {
  for (let index = 0; index < count; index++) if (test(index)) return index;
  return count;
}

/** Makes the substitute for the native core. */
export function plainCore(): NativeCore {
  const notes = new Map<string, string>();
  let numbers = 0;
  return {
    interface: 0,
    coreInUse: () => '',
    control: controlLayout,
    scaledClock: false,
    fastCalls: false,

    boundedPattern: () => undefined,
    clockNow: () => process.hrtime.bigint(),
    kernelClockNow: () => process.hrtime.bigint(),
    wallClock: () => BigInt(Math.round((performance.timeOrigin + performance.now()) * 1e6)),
    cpuClock() {
      const { user, system } = process.cpuUsage();
      return (user + system) * 1000;
    },
    readClocks(to) {
      const now = process.hrtime.bigint();
      to.set([now, BigInt(Date.now()) * 1_000_000n, now, now, 0n]);
    },
    systemRandom(to) {
      process.getBuiltinModule('node:crypto').getRandomValues(to);
      return true;
    },
    fillRandom(words) {
      process.getBuiltinModule('node:crypto').getRandomValues(words);
    },
    systemThreadId,
    anchorDirectory: nothing,
    makeDirectories: () => false,
    releaseDirectory: nothing,
    anchoredPath: (path) => path,
    fileIdentity,
    replaceFile,
    ringIsHeld,
    // Node has no lock for files.
    tryLock: () => true,
    nextData: (_, offset) => offset,
    useLargePages: nothing,
    hasHiddenName: () => false,
    freeDescriptors: () => Infinity,

    processWords: (bytes) => new ArrayBuffer(bytes),
    putNote: (name, text) => void notes.set(name, text),
    getNote: (name) => notes.get(name) ?? '',
    claimNote: (name) => (notes.get(name) ?? '') === '',

    firstOutside: (bytes, from, stride, count, low, high) =>
      firstIndex(
        count,
        (i) => !(bytes[from + i * stride]! >= low && bytes[from + i * stride]! <= high),
      ),
    firstInexact: (values) =>
      firstIndex(values.length, (i) => !(Number.isSafeInteger(values[i]) && values[i]! >= 0)),

    openRing,
    openWaiting: () => undefined,
    indexWaiting: () => undefined,
    countWaiting: nothing,
    learnWaiting: nothing,
    copyWaiting: () => 0,
    relieveSlots: () => 0,
    dropWaiting: nothing,
    forgetWaiting: nothing,
    isOver: () => true,
    reclaimWaiting: () => 0,
    moveWaiting: () => false,
    makeRoom: () => -2,
    commitAsIs: nothing,
    commitExplicit: () => true,
    flush: () => true,
    // The caller counts the record as dropped.
    writeThrough() {
      throw new Error('there is no native binary');
    },
    setEndMetadata: nothing,
    finish: nothing,
    attend: nothing,
    growOpenRecords: () => 0,
    waitDrained: () => Promise.resolve(true),
    inPlace: () => true,
    ringCounts: () => ({ ...noCounts(), committedBytes: 0, pendingBytes: 0 }),
    packRecords: () => true,
    copyRecords: (_to, _at, _from, _start, _recordBytes, count) => count,

    joinTarget: ({ epoch }) => ({ target: {} as never, created: true, epoch }),
    keepTarget: nothing,
    define: () => 0,
    repeatDefinition: () => false,
    takeNumber: (_target, wanted) => wanted ?? ++numbers,
    targetCounts: noCounts,

    groupCounts: noGroupCounts,
    groupState: () => noGroupState,
    onTargetChange: () => false,
    watchGroup: nothing,
    unwatchGroup: nothing,
    leaveToProgram: nothing,
    limitGroup: nothing,

    finishOnSignal: () => false,
    processEnds: nothing,
    callBeforeSignal: () => false,
    holdSignals: nothing,
    releaseSignals: nothing,
    mapPagesLate: nothing,
    watchHeap: () => false,
    noteHeap: nothing,
    prepareHeapEnd: nothing,
    watchLoop: () => false,
    startProfile: () => false,
    takeProfile: () => undefined,
    stopProfile: nothing,
    startHeapProfile: () => false,
    takeHeapProfile: () => undefined,
    stopHeapProfile: nothing,
    learnActiveSpan: () => false,
    watchCollections: () => false,
    takeCollections: () => 0,
    lostCollections: () => 0,
    restLoop: () => false,
    wakeLoop: nothing,
    turnStart: () => 0,
    prepareStall: nothing,
    drainRounds: () => 0,
    putListEntry: nothing,
  };
}
