import type { isRuledOut } from '../../src/diff/rule-out.ts';
import type { merge, readBack } from '../../src/diff/written.ts';
import type { newcomersSince } from '../../src/mirror/records/record-store.ts';
import type { changeEntry } from '../../src/mirror/outbox/outbox-store.ts';
import type { claimEntry, entryBefore, readSending } from '../../src/mirror/outbox/outbox-queue.ts';
import type { leapTick, readTick } from '../../src/mirror/kinds/kind-standing.ts';
import type { decideSettlement } from '../../src/outbound/send/decide-settlement.ts';
import type { grade } from '../../src/outbound/attempt/grade.ts';
import type { landOwn } from '../../src/outbound/attempt/land-own.ts';
import type { altersKeys } from '../../src/outbound/send/create.ts';
import type { equalOnes } from '../../src/outbound/send/newcomers.ts';
import type { recoverEntries } from '../../src/outbound/send/recover.ts';
import type { createWrite } from '../../src/source/write.ts';

/** Functions of the code under test for which a test can put a double, made of the real one. */
export interface Plantable {
  decideSettlement: typeof decideSettlement;
  isRuledOut: typeof isRuledOut;
  equalOnes: typeof equalOnes;
  altersKeys: typeof altersKeys;
  newcomersSince: typeof newcomersSince;
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
