import type { decideDeletions } from '../../src/diff/decide-deletions.ts';
import type { doubtOfList } from '../../src/diff/doubts.ts';
import type { saveVolatileFields } from '../../src/store/runs/volatile-fields.ts';
import { merge } from '../../src/diff/merge-update.ts';
import type { normalizeSpelling } from '../../src/diff/normalize-spelling.ts';
import type { findIdentityDifferences } from '../../src/diff/identity-differences.ts';
import type { showsSentValue } from '../../src/diff/rule-out.ts';
import { parseObject } from '../../src/lib/json/json.ts';
import type { unlistedLinks } from '../../src/store/outbox/attempts-and-links.ts';
import { blockKind, type postponeForbidden } from '../../src/outbound/send/end-entry.ts';
import type { isProvenCreated } from '../../src/outbound/send/grade.ts';
import { payloadOf } from '../../src/outbound/send/journal.ts';
import type { findOtherTarget } from '../../src/outbound/send/other-record.ts';
import type { mergeUpdate, readUnprovenFields } from '../../src/outbound/send/base.ts';
import type { decideSettlement } from '../../src/outbound/send/decide-settlement.ts';
import type { readControl } from '../../src/outbound/send/read-remote.ts';
import type { updateRecord } from '../../src/outbound/send/update.ts';
import type { concludeAbsences } from '../../src/pull/deletions/conclude-absences.ts';
import type { readOldestRows } from '../../src/pull/deletions/oldest-rows.ts';
import type { isNewHolder, isOfSeveral } from '../../src/pull/token-holders.ts';
import type { readWriteAnswer } from '../../src/source/http/write-answer.ts';
import type { findRepeatedPage } from '../../src/source/paging/page-checks.ts';

/** Functions of the code under test in whose place a test can put a double, made of the real one. */
interface Plantable {
  concludeAbsences: typeof concludeAbsences;
  decideSettlement: typeof decideSettlement;
  findIdentityDifferences: typeof findIdentityDifferences;
  findOtherTarget: typeof findOtherTarget;
  normalizeSpelling: typeof normalizeSpelling;
  mergeUpdate: typeof mergeUpdate;
  showsSentValue: typeof showsSentValue;
  saveVolatileFields: typeof saveVolatileFields;
  findRepeatedPage: typeof findRepeatedPage;
  decideDeletions: typeof decideDeletions;
  doubtOfList: typeof doubtOfList;
  isProvenCreated: typeof isProvenCreated;
  readControl: typeof readControl;
  readOldestRows: typeof readOldestRows;
  readWriteAnswer: typeof readWriteAnswer;
  isNewHolder: typeof isNewHolder;
  isOfSeveral: typeof isOfSeveral;
  postponeForbidden: typeof postponeForbidden;
  unlistedLinks: typeof unlistedLinks;
  readUnprovenFields: typeof readUnprovenFields;
  updateRecord: typeof updateRecord;
}

interface LastingBug {
  readonly name: string;
  readonly parts: { readonly [Name in keyof Plantable]?: (real: Plantable[Name]) => Plantable[Name] };
  /** The trait that shows it, as a part of `trait: value`: only such histories are drawn. */
  readonly trait: string;
}

/** Bugs that show only where a trouble outlasts patience. */
export const LASTING_BUGS: readonly LastingBug[] = [
  {
    name: 'a create is sent again by a sweep that distrusts its own list',
    trait: 'rights:',
    parts: {
      decideSettlement: (real) => (facts) => {
        const readings = facts.readings.map((reading) =>
          reading.certifiedAt === null ? reading : { ...reading, state: 'certified', reason: null },
        );
        return real({ ...facts, readings, doubt: null });
      },
    },
  },
  {
    name: 'an empty list proves what it lacks',
    trait: 'maintenance:',
    parts: {
      decideSettlement: (real) => (facts) => {
        const isEmpty = facts.readings.at(-1)?.rows === 0;
        const readings = facts.readings.map((reading) =>
          isEmpty ? { ...reading, state: 'certified' } : reading,
        );
        return real({ ...facts, readings, doubt: null });
      },
    },
  },
  {
    name: 'records of ours that no list shows say nothing about the list',
    trait: 'cut:',
    parts: {
      unlistedLinks: () => () => Promise.resolve([]),
      concludeAbsences:
        (real) =>
        async (...args) => {
          const concluded = await real(...args);
          const waiting = Math.max(0, concluded.waiting - concluded.neverListed);
          return { ...concluded, waiting, neverListed: 0 };
        },
    },
  },
  {
    name: 'a record that an answer named is deleted by lists that never showed it',
    trait: 'approval:',
    parts: {
      decideDeletions: (real) => (facts, rules) =>
        real({ ...facts, absent: facts.absent.map((row) => ({ ...row, isListed: true })) }, rules),
    },
  },
  {
    name: 'a page with ids of page 1 is page 1 again',
    trait: 'flips:',
    parts: {
      findRepeatedPage: (real) => (known, response) => {
        const first = new Set(known.first);
        const isFirst = response.page > 1 && response.keys.length > 0 && !known.isCounted;
        if (!isFirst || ![...response.keys].every((id) => first.has(id))) return real(known, response);
        return { page: 1, isSure: true };
      },
    },
  },
  {
    name: 'an update is written into whatever has the id',
    trait: 'succession:',
    parts: { findOtherTarget: () => () => Promise.resolve(null) },
  },
  {
    name: 'a record that shares half of its fields is the same',
    trait: 'succession: ids given to alike',
    parts: {
      findIdentityDifferences:
        (real) =>
        (...args) => {
          const signs = real(...args);
          return signs.length > 3 ? signs : [];
        },
    },
  },
  {
    name: 'one forbidden record stops all writes of its kind',
    trait: 'forbidden:',
    parts: {
      postponeForbidden:
        () =>
        (tx, _parts, entry, { reason, now }) =>
          blockKind(tx, entry, reason, now),
    },
  },
  {
    name: 'rows that a list of recent ones drops are deleted',
    trait: 'window: by threes',
    parts: { readOldestRows: () => () => Promise.resolve(null) },
  },
  {
    name: 'most rows of a small kind are deleted like any others',
    trait: 'rights: most lost of few',
    parts: { decideDeletions: (real) => (facts, rules) => real({ ...facts, live: 1e9 }, rules) },
  },
  {
    name: 'a list is believed whatever speaks against it',
    trait: 'rights: most lost of few',
    parts: { doubtOfList: () => () => null },
  },
  {
    name: 'pages of several hours are taken for one list',
    trait: 'keeping: for hours, hidden',
    parts: { decideDeletions: (real) => (facts, rules) => real({ ...facts, canBeMixed: false }, rules) },
  },
  {
    name: 'fields that change with each sweep need nobody',
    trait: 'volatile:',
    parts: { saveVolatileFields: () => () => Promise.resolve() },
  },
  {
    name: 'what a list spells otherwise is another user’s change',
    trait: 'spelling:',
    parts: { normalizeSpelling: () => (_field, value) => value },
  },
  {
    name: 'what our own update wrote is another user’s change',
    trait: 'ownShown:',
    parts: {
      mergeUpdate: () => (_db, kind, entry, remote) => {
        const base = entry.base === null ? null : parseObject(entry.base);
        return Promise.resolve(merge({ kind, wanted: payloadOf(entry), base, remote }));
      },
    },
  },
  {
    name: 'a record that does not answer once is gone',
    trait: 'downtimes:',
    parts: {
      readControl: () => () => Promise.resolve('answers'),
      updateRecord: (real) => (parts, kind, entry) =>
        real({ ...parts, rules: { ...parts.rules, graceSeconds: 0 } }, kind, entry),
    },
  },
  {
    name: 'an equal change of another user counts as proven to be ours',
    trait: 'likeMinded:',
    parts: { readUnprovenFields: () => () => Promise.resolve({}) },
  },
  {
    name: 'a success without a body proves nothing',
    trait: 'named: nowhere',
    parts: { isProvenCreated: () => () => false },
  },
  {
    name: 'the number of a job counts as a record',
    trait: 'named: by the number of a job',
    parts: { showsSentValue: () => () => true },
  },
  {
    name: 'every user’s token shows the same rows',
    trait: 'token: another user’s for days',
    parts: { isNewHolder: () => () => Promise.resolve(false) },
  },
  {
    name: 'a list that was read with two tokens proves what it lacks',
    trait: 'token: two in each sweep',
    parts: {
      isNewHolder: () => () => Promise.resolve(false),
      isOfSeveral: () => () => Promise.resolve(false),
    },
  },
  {
    name: 'a Location names nothing',
    trait: 'named: by Location',
    parts: {
      isProvenCreated: () => () => false,
      readWriteAnswer:
        (real) =>
        (...args) => ({ ...real(...args), locationId: undefined }),
    },
  },
];
