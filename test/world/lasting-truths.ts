import { kindOf } from './bodies.ts';
import { sendOf } from './entry-truths.ts';
import { recordsOf, type Finding, type Found } from './finding.ts';
import type { EntryRecord, Recording } from './history.ts';
import { MOST_KEPT_MS, MOST_LAG_MS, fits } from './mirror-truths.ts';
import type { Content, RecordAction } from './records.ts';
import type { Send } from './service.ts';
import { VOLATILE, plainText } from './spelled.ts';
import { storedFields } from './stored.ts';

/**
 * Updates that were written into another record, which got their record's id before we last read it. Which one was meant by an update
 * of a record that the mirror has never had, nobody can know.
 */
export function misdirected(recording: Recording): Found {
  return updatesOf(recording).flatMap(({ entry, intent }): Finding[] => {
    const { actions } = recordsOf(recording, intent.kind);
    if (entry.base === null) return [];
    const meant = bornOf(recording, entry.base, intent) ?? intent.born;
    return actions
      .filter(
        (action) => action.id === intent.recordId && action.before !== null && action.before.born !== meant,
      )
      .filter((action) => {
        const send = sendOf(recording, action);
        if (meant === null || send === null || !isFor(send, intent.body) || send.atMs < intent.atMs)
          return false;
        const readMs = (recording.readBefore.get(send.number) ?? -1) - lagOf(recording);
        return actions.some(
          ({ id, is, atMs }) =>
            id === action.id && is === 'created' && atMs <= readMs && atMs > intent.atMs - lagOf(recording),
        );
      })
      .map(({ id }) => ({
        invariant: 'misdirected',
        detail: `entry ${entry.id}: ${intent.kind} ${id} is another one`,
      }));
  });
}

/** Which record the author of an update had seen; null where it cannot be known. */
function bornOf(
  { service, personality }: Recording,
  base: string,
  { kind, recordId, atMs }: EntryRecord['intent'],
): number | null {
  const plain = (text: string): string => plainText(text, kind, personality);
  const seen = service.records
    .get(kind)
    ?.actions.findLast(
      (action) =>
        action.id === recordId &&
        action.atMs <= atMs &&
        action.after !== null &&
        fits(plain(action.after.text), plain(base)),
    );
  return seen?.after?.born ?? null;
}

const updatesOf = ({ entries }: Recording): readonly EntryRecord[] =>
  entries.filter(({ intent }) => intent.operation === 'update');

const lagOf = ({ personality }: Recording): number =>
  (personality.replica === 'none' ? 0 : MOST_LAG_MS) + (personality.cache === 'none' ? 0 : MOST_KEPT_MS);

function isFor({ body }: Send, wanted: Content): boolean {
  return Object.entries(JSON.parse(body) as Content).every(
    ([name, value]) => JSON.stringify(wanted[name]) === JSON.stringify(value),
  );
}

/** Updates parked because their record is gone, which it never was, except in a momentary answer. */
export function falselyGone(recording: Recording): Found {
  const { rights, token, maintenance, approval, unlisted, window, cut } = recording.personality;
  if (
    [
      window !== 'whole',
      cut !== 'whole',
      rights !== 'kept',
      token !== 'one user’s',
      maintenance !== 'none',
      approval !== 'none',
      unlisted !== 'none',
    ].includes(true)
  )
    return [];
  return updatesOf(recording)
    .filter(({ entry, intent }) => {
      const { actions } = recordsOf(recording, intent.kind);
      const wasDeleted = actions.some(({ id, is }) => id === intent.recordId && is === 'deleted');
      const isGone = entry.verdict === 'gone' || entry.verdict === 'no_such_record';
      return entry.state === 'parked' && isGone && !wasDeleted;
    })
    .map(({ entry }) => ({
      invariant: 'falsely gone',
      detail: `entry ${entry.id}: its record was there all the time`,
    }));
}

/** Conflicts with nobody: no other person has ever written those fields. */
export function falseConflicts(recording: Recording): Found {
  const { ownShown, spelling, volatile, goesBack } = recording.personality;
  if (goesBack !== 'never') return []; // Our own, which the database has forgotten.
  if (ownShown === 'at once' && spelling === 'alike' && volatile === 'none') return [];
  if (
    Object.entries(storing(recording)).some(
      ([, value]) => !['as sent', 'all taken', 'partial', 'at once'].includes(value),
    )
  )
    return [];
  return updatesOf(recording)
    .filter(({ entry, intent }) => {
      const { actions } = recordsOf(recording, intent.kind);
      const names = Object.keys(storedFields(kindOf(intent.kind), intent.body, recording.personality));
      const isOthers = ({ id, actor, before, after }: RecordAction): boolean =>
        id === intent.recordId &&
        actor === 'other' &&
        names.some((name) => before?.content[name] !== after?.content[name]);
      return entry.state === 'parked' && entry.verdict === 'conflict' && !actions.some(isOthers);
    })
    .map(({ entry }) => ({
      invariant: 'false conflict',
      detail: `entry ${entry.id}: nobody else has written that`,
    }));
}

const storing = ({ personality: { texts, codes, times, amounts, fields, put, commit } }: Recording) => ({
  texts,
  codes,
  times,
  amounts,
  fields,
  put,
  commit,
});

/** So few rows one person may have changed; so many sweeps at the end have shown all of them again. */
const LEAST_VOLATILE = 25;
const LAST_SWEEPS = 3;

/** Fields that changed with every sweep, without a notification. */
export function unnoticed({ personality, kinds, pulls, final, volatile }: Recording): Found {
  if (personality.volatile === 'none') return [];
  return kinds.flatMap(({ name }): Finding[] => {
    const last = pulls.filter(({ states }) => states.has(name)).slice(-LAST_SWEEPS);
    const isRead =
      last.length === LAST_SWEEPS && last.every(({ states }) => states.get(name) === 'certified');
    const rows = [...(final.kinds.get(name)?.rows.values() ?? [])].filter(
      ({ deletedAt }) => deletedAt === null,
    );
    const field = VOLATILE[name];
    if (!isRead || field === undefined || rows.length < LEAST_VOLATILE) return [];
    if (volatile.includes(`${name}.${field}`)) return [];
    return [{ invariant: 'unnoticed', detail: `${name}.${field} changes with every sweep` }];
  });
}

/**
 * What an undo would take back of others: values that they have written, and no send of ours ever. Where a send that was answered
 * asked for the same, and what we had read before was older than theirs, nobody can know whose the value is.
 */
export function takenBack(recording: Recording): Found {
  return recording.undone.flatMap(({ kind, recordId, field, entry }): Finding[] => {
    const { actions } = recordsOf(recording, kind);
    const writes = actions.filter(
      ({ id, is, before, after }) =>
        id === recordId && is === 'edited' && before?.content[field] !== after?.content[field],
    );
    const last = writes.at(-1);
    const isOthers =
      last?.actor === 'other' &&
      writes.every((action) => sendOf(recording, action) === null) &&
      !hasAskedUnaware(recording, last);
    return isOthers
      ? [
          {
            invariant: 'taken back',
            detail: `undo of entry ${entry}: ${field} of ${kind} ${recordId} is another user's`,
          },
        ]
      : [];
  });
}

/** Whether a send that was answered asked for what another person wrote since we had read the record, as far as that showed it. */
function hasAskedUnaware(recording: Recording, { id, atMs }: RecordAction): boolean {
  return recording.service.sends.some(
    (send) =>
      send.committed?.id === id &&
      send.outcome === 'answered' &&
      send.atMs >= atMs &&
      (recording.readBefore.get(send.number) ?? Infinity) - lagOf(recording) < atMs,
  );
}
