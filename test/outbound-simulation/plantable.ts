import type { judgeSearch } from '../../src/diff/match.ts';
import type { merge, readBack } from '../../src/diff/written.ts';
import type { rowsFirstSeenAfter } from '../../src/mirror/records/record-store.ts';
import type { changeEntry } from '../../src/mirror/outbox/outbox-store.ts';
import type { claimEntry, entryBefore, readSending } from '../../src/mirror/outbox/outbox-queue.ts';
import type { leapTick, readTick } from '../../src/mirror/kinds/kind-standing.ts';
import type { decideSettlement } from '../../src/outbound/send/decide-settlement.ts';
import type { grade } from '../../src/outbound/attempt/grade.ts';
import type { landOwn } from '../../src/outbound/attempt/land-own.ts';
import type { recoverEntries } from '../../src/outbound/send/recover.ts';
import type { createWrite } from '../../src/source/write.ts';

/** Functions of the code under test for which a test can put a double, made of the real one. */
export interface Plantable {
  decideSettlement: typeof decideSettlement;
  judgeSearch: typeof judgeSearch;
  rowsFirstSeenAfter: typeof rowsFirstSeenAfter;
  claimEntry: typeof claimEntry;
  changeEntry: typeof changeEntry;
  entryBefore: typeof entryBefore;
  readSending: typeof readSending;
  leapTick: typeof leapTick;
  readTick: typeof readTick;
  grade: typeof grade;
  merge: typeof merge;
  readBack: typeof readBack;
  landOwn: typeof landOwn;
  recoverEntries: typeof recoverEntries;
  createWrite: typeof createWrite;
}

export type Planted = { readonly [Name in keyof Plantable]?: (real: Plantable[Name]) => Plantable[Name] };
