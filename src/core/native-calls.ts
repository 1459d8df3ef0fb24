import { core } from './addon.js';

/** Native calls that are made as they are. `NativeCore` says what each of them does. */
export const {
  copyRecords,
  fillRandom,
  firstInexact,
  firstOutside,
  freeDescriptors,
  groupCounts,
  hasHiddenName,
  limitGroup,
  lostCollections,
  noteHeap,
  packRecords,
  putListEntry,
  replaceFile,
  restLoop,
  wakeLoop,
  systemRandom,
  takeCollections,
  tryLock,
  watchCollections,
  watchHeap,
  watchLoop,
} = core;
