import type { Finding, Invariant } from './finding.ts';
import type { Recording } from './history.ts';
import { kindOf } from './bodies.ts';
import { DOCUMENTED } from './traits.ts';

/** Services that break a promise by themselves, so that no client can keep it; all others must hold every invariant. */
interface Limit {
  readonly why: string;
  readonly invariants: readonly Invariant[];
  readonly holds: (recording: Recording, finding: Finding) => boolean;
}

/** Fewer missing records of a kind are deleted without asking a person, if they are not found twice. */
const FEWEST_HELD = 3;

const LIMITS: readonly Limit[] = [
  {
    why: 'the service says in its own words that it did nothing, and did it',
    invariants: ['doubled', 'denied', 'false conflict'],
    holds: ({ personality: { refusal, refusedWhen } }) =>
      refusal === 'in its own JSON' && refusedWhen !== 'before the commit',
  },
  {
    why: 'the service shows the beginning of its list whatever page is asked for, and gives no sign that there is more',
    invariants: ['falsely certified', 'unequal', 'doubled'],
    holds: ({ personality: { asked, announced } }) => asked === 'page ignored' && announced === 'nothing',
  },
  {
    why: 'no list shows what is created, and no record that an answer has named gives that away',
    invariants: ['doubled'],
    holds: ({ personality: { approval, cut }, witness }, { wasAnswered = false }) =>
      (approval !== 'none' || cut !== 'whole') && witness === 'nothing' && !wasAnswered,
  },
  {
    why: 'no list shows what is created, and no answer has named a record that gives that away',
    invariants: ['falsely certified', 'unequal'],
    holds: ({ personality: { approval, cut }, witness }) =>
      (approval !== 'none' || cut !== 'whole') && witness === 'nothing',
  },
  {
    why: 'a list lacked a row from the first look on, when we had sent no create yet that could have given that away',
    invariants: ['falsely certified', 'wrong event'],
    holds: ({ personality: { cut }, service: { sends } }, { evidence }) =>
      cut !== 'whole' &&
      evidence !== undefined &&
      !sends.some(({ operation, atMs }) => operation === 'create' && atMs <= evidence.toMs),
  },
  {
    why: 'a cache that does not say that it is one shows a row that was deleted in place of one that moved past the reader',
    invariants: ['falsely certified', 'wrong event'],
    holds: ({ service: { stalePages } }, { evidence }) =>
      evidence !== undefined &&
      stalePages.some(
        ({ kind, atMs }) => kind === evidence.kind && atMs >= evidence.fromMs && atMs <= evidence.toMs,
      ),
  },
  {
    why: 'a record that waits for an approval, and is not found, has the id of one that was just deleted: whose deletion it is nobody can tell',
    invariants: ['falsely deleted', 'falsely certified', 'unequal'],
    holds: ({ personality: { approval, ids }, service }) =>
      approval !== 'none' && ids === 'reused' && service.unseen === 'not found',
  },
  {
    why: 'of the records that lists hide, other users have deleted all but so few that these could be deleted as well',
    invariants: ['falsely deleted', 'falsely certified', 'unequal'],
    holds: ({ personality: { rights }, service, kinds }) =>
      rights !== 'kept' &&
      service.unseen === 'not found' &&
      kinds.some(({ name }) => {
        const hidden = service.hides(name);
        const deleted = (service.records.get(name)?.actions ?? []).filter(
          ({ id, is }) => is === 'deleted' && hidden.has(id),
        );
        return deleted.length > 0 && hidden.size - deleted.length < FEWEST_HELD;
      }),
  },
  {
    why: 'lists show what we create hours later: what they show until then is no list of the service’s',
    invariants: ['falsely certified'],
    holds: ({ personality: { ownShown } }) => ownShown !== 'at once',
  },
  {
    why: 'a cache shows pages of several hours as one list, and does not say that it is one',
    invariants: ['falsely certified'],
    holds: ({ personality: { keeping } }) => keeping === 'for hours, hidden',
  },
  {
    why: 'single rows of a list leave it where nobody can ask for a record alone: twice, then somebody is asked',
    invariants: ['falsely deleted', 'falsely certified', 'unequal'],
    holds: ({ personality: { window }, kinds }) =>
      window === 'one by one' && !kinds.some(({ name }) => canBeAsked(name)),
  },
  {
    why: 'the database has forgotten a send whose record lists show late, or not as it was sent',
    invariants: ['doubled'],
    holds: ({ goneBack, personality }) =>
      goneBack !== null && KEPT_AS_SENT.some((name) => personality[name] !== DOCUMENTED[name]),
  },
  {
    why: 'two records are refused, and no other is written that shows that the token may write the kind: somebody is notified',
    invariants: ['open for ever'],
    holds: ({ service, entries }) => {
      const open = entries.map(({ entry }) => entry).filter(({ state }) => state === 'ready');
      const byKind = [...Map.groupBy(open, (entry) => entry.kind).values()];
      return (
        byKind.every((waiting) => waiting.length > 1) &&
        open.every(
          ({ kind, recordId, verdict }) =>
            verdict === 'kind_blocked' && service.apart(kind).has(recordId ?? ''),
        )
      );
    },
  },
];

/** The traits of a service whose lists show at once, and in every field as it was sent, what a create has made. */
const KEPT_AS_SENT = ['texts', 'times', 'amounts', 'fields', 'commit', 'replica', 'cache'] as const;

const canBeAsked = (kind: string): boolean => kindOf(kind).retrieve?.misprint === undefined;

export function mayBreak(recording: Recording, finding: Finding): boolean {
  return LIMITS.some(
    ({ invariants, holds }) => invariants.includes(finding.invariant) && holds(recording, finding),
  );
}
