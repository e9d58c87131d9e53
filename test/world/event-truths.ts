import type { ChangeRow } from './dump.ts';
import { evidenceOf, recordsOf, type Evidence, type Finding, type Found } from './finding.ts';
import type { EntryRecord, Recording } from './history.ts';
import { MOST_KEPT_MS, MOST_LAG_MS, fits, shown } from './mirror-truths.ts';
import type { Pull } from './stage.ts';
import type { Content, RecordAction } from './records.ts';
import { mayKeep } from './secrets.ts';
import { plainText } from './spelled.ts';
import { peculiarities, type Trait } from './traits.ts';

/** Events about something that did not happen, of nothing, or of what was known before. */
export function phantomEvents(recording: Recording): Found {
  return recording.changes.flatMap((event): Finding[] => {
    const why = phantom(recording, event);
    if (why !== null) return [{ invariant: 'wrong event', detail: `${shown(event)}: ${why}` }];
    const evidence = event.change === 'created' ? missedAtBaseline(recording, event) : null;
    const detail = `${shown(event)}: it was there at the baseline`;
    return evidence === null ? [] : [{ invariant: 'wrong event', detail, evidence }];
  });
}

function phantom(recording: Recording, event: ChangeRow): string | null {
  const { change, before, after, fields } = event;
  const isKnownInFull = isAsDocumented(recording, ['shown', 'envelope', 'status', 'named']);
  const plain = (text: string): string => plainText(text, event.kind, recording.personality);
  const texts = textsOf(recording, event).map(plain);
  if (
    isKnownInFull &&
    [before, after].some((text) => text !== null && !texts.some((one) => fits(one, plain(text))))
  )
    return 'the record never was like that';
  if (change !== 'updated') return null;
  if (before === null || after === null) return 'an update has two sides';
  const names = Object.keys(JSON.parse(fields) as object);
  const isSame = (name: string): boolean => valueOf(before, name) === valueOf(after, name);
  return names.length === 0 || names.some(isSame) ? `names the fields ${names.join()}` : null;
}

const valueOf = (text: string, name: string): string => JSON.stringify([(JSON.parse(text) as Content)[name]]);

function actionsOf(recording: Recording, { kind, id }: ChangeRow): readonly RecordAction[] {
  return recordsOf(recording, kind).actions.filter((action) => action.id === id);
}

/** The contents of a record, in their order, as the mirror may keep them. */
function textsOf(recording: Recording, event: ChangeRow): readonly string[] {
  const field = recording.secrets.fields[event.kind];
  return actionsOf(recording, event).flatMap(({ after }) => (after ? [mayKeep(after, field)] : []));
}

/** Whether the service is the documented one in these traits. */
function isAsDocumented({ personality }: Recording, traits: readonly Trait[]): boolean {
  const others = peculiarities(personality);
  return !traits.some((trait) => others.some((one) => one.startsWith(`${trait}:`)));
}

/**
 * What a baseline goes by at which a created record must have been known; null where none must: one that was certified knew all there was at some point of its last
 * three sweeps. One that was not certified knows nothing for certain. What we create ourselves is news at any time.
 */
function missedAtBaseline(recording: Recording, event: ChangeRow): Evidence | null {
  if (event.origin !== 'service') return null;
  const pulls = recording.pulls.toSorted((a, b) => a.fromMs - b.fromMs); // One that stood still has ended after a later one.
  const stateAfter = ({ after }: Pull) => after.kinds.get(event.kind);
  const baseline = pulls.find((pull) => typeof stateAfter(pull)?.baselineAt === 'string');
  if (baseline === undefined || typeof stateAfter(baseline)?.certifiedAt !== 'string') return null;
  const actions = actionsOf(recording, event);
  if (actions.some(({ is }) => is === 'deleted')) return null;
  const evidence = evidenceOf(recording, event.kind, baseline);
  const sinceMs = evidence.fromMs - MOST_LAG_MS - MOST_KEPT_MS;
  return actions.some(({ actor, atMs }) => actor === 'before' || atMs < sinceMs) ? evidence : null;
}

/** Where lists show what was, what is spelled otherwise is not an order to go by. */
const NOT_IN_ORDER = ['ownShown', 'keeping', 'spelling', 'volatile', 'blanks'] as const;

/** Records whose events show an older content after a newer one; where a replica answers, that is what it says. */
export function backwards(recording: Recording): Found {
  if (!isAsDocumented(recording, ['replica', 'cache', 'shown', 'envelope', 'status', ...NOT_IN_ORDER]))
    return [];
  const chains = Map.groupBy(recording.changes, ({ kind, id }) => `${kind} ${id}`);
  return [...chains.values()].flatMap((events): Finding[] => {
    let from = 0;
    for (const event of events) {
      if (event.after === null) continue;
      const { after } = event;
      const at = textsOf(recording, event).findIndex((one, index) => index >= from && fits(one, after));
      if (at === -1)
        return [{ invariant: 'wrong event', detail: `${shown(event)}: older than the one before` }];
      from = at;
    }
    return [];
  });
}

/** Events whose numbers or instants go back, or that were first seen after they were seen. */
export function outOfOrder({ changes }: Recording): Found {
  return changes.flatMap((event, at): Finding[] => {
    const previous = changes[at - 1];
    const isBefore =
      previous !== undefined && (event.seq <= previous.seq || event.observedAt < previous.observedAt);
    const isTurned = event.observedFrom !== null && event.observedFrom > event.observedAt;
    return isBefore || isTurned
      ? [{ invariant: 'wrong event', detail: `${shown(event)}: out of order` }]
      : [];
  });
}

/** Events said to be ours that are not, and our writes that an event gives to somebody else. */
export function wrongOrigins(recording: Recording): Found {
  const known = new Map(recording.entries.map((one) => [`outbox:${one.entry.id}`, one]));
  const strays = recording.changes
    .filter(({ origin }) => origin !== 'service')
    .filter(({ origin, kind, id }) => {
      const one = known.get(origin);
      return one?.intent.kind !== kind || one.entry.recordId !== id;
    });
  const taken = recording.entries.flatMap((one) => takenFrom(recording, one));
  return [...strays, ...taken].map((event) => ({
    invariant: 'wrong event',
    detail: `${shown(event)}: its origin is ${event.origin}`,
  }));
}

/**
 * Our creations that an event gives to the service, though the answer had shown the record before any sweep did. Instants of events
 * never go back, though the clock does: there only a sweep that began after the answer was certainly later.
 */
function takenFrom(recording: Recording, { entry, intent, attempts }: EntryRecord): readonly ChangeRow[] {
  const isAnswered = entry.state === 'done' && entry.verdict === 'sent' && intent.operation === 'create';
  if (!isAnswered || !isAsDocumented(recording, ['shown', 'envelope', 'status', 'ids', 'replica', 'named']))
    return [];
  const { openedAt = '', closedAt } = attempts.at(-1) ?? {};
  const tookMs = Math.abs(Date.parse(closedAt ?? '') - Date.parse(openedAt));
  const sent = recording.service.sends.findLast(
    ({ kind, committed }) => kind === intent.kind && committed?.id === entry.recordId,
  );
  const isLater = ({ observedAt, runId }: ChangeRow): boolean => {
    const isOfSweep = runId !== null; // Else the answer has made it.
    return isOfSweep && !isAsDocumented(recording, ['clock'])
      ? recording.pulls.some((pull) => pull.runId === runId && pull.fromMs > (sent?.atMs ?? 0) + tookMs)
      : observedAt > (closedAt ?? '');
  };
  return recording.changes.filter(
    (event) =>
      event.kind === intent.kind &&
      event.id === entry.recordId &&
      event.change === 'created' &&
      event.origin === 'service' &&
      isLater(event),
  );
}

/** Texts and decimals in columns that are not what the record says. */
export function wrongColumns({ final, kinds }: Recording): Found {
  return kinds.flatMap(({ name, fields }) =>
    [...(final.kinds.get(name)?.rows.values() ?? [])].flatMap(({ id, raw, columns }): Finding[] => {
      const content = JSON.parse(raw) as Content;
      return fields.flatMap(({ name: field, type, scale = 0 }): Finding[] => {
        const sent = content[field];
        if (!columns.has(field) || typeof sent !== 'string' || sent === '') return [];
        const expected = type === 'decimal' ? sent.padEnd(sent.indexOf('.') + 1 + scale, '0') : sent;
        const held = columns.get(field) ?? 'null';
        if (held === expected) return [];
        return [
          { invariant: 'unequal', detail: `${name} ${id} ${field}: got ${held}, expected ${expected}` },
        ];
      });
    }),
  );
}

/** How much later than its journal a send may leave. */
const MOST_WAITED_MS = 30_000;

/** Writes that left without a line in the journal. */
export function unjournalled({ service, entries, kinds, goneBack }: Recording): Found {
  const isForgotten = (atMs: number): boolean =>
    goneBack !== null && atMs >= goneBack.fromMs && atMs <= goneBack.toMs + MOST_WAITED_MS;
  return kinds.flatMap(({ name }): Finding[] => {
    const sends = service.sends.filter(({ kind, atMs }) => kind === name && !isForgotten(atMs)).length;
    const attempts = entries
      .filter(({ intent }) => intent.kind === name)
      .reduce((sum, one) => sum + one.attempts.length, 0);
    return sends > attempts
      ? [{ invariant: 'unjournalled', detail: `${name}: ${sends} sends, ${attempts} attempts` }]
      : [];
  });
}

/** Creates that name one record as theirs. */
export function shared({ entries }: Recording): Found {
  const creates = entries.filter(
    ({ entry, intent }) => intent.operation === 'create' && entry.state === 'done' && entry.recordId !== null,
  );
  const owners = Map.groupBy(creates, ({ entry, intent }) => `${intent.kind} ${entry.recordId ?? ''}`);
  return [...owners].flatMap(([record, own]): Finding[] =>
    own.length < 2
      ? []
      : [
          {
            invariant: 'lost',
            detail: `${record} of the entries ${own.map(({ entry }) => entry.id).join()}`,
          },
        ],
  );
}
