import { isLessThan, canonicalNumber } from '../../lib/json/decimal.ts';
import { isNumber, parseObject } from '../../lib/json/json.ts';
import { parseInstant, formatInstant, isFromFastClock } from '../../lib/time/clock.ts';
import { repeatTask, type MirrorContext } from '../../db/mirror-context.ts';
import type { Queryable, Session } from '../../db/session/session.ts';
import { readMetaJson, writeMeta } from '../../store/kinds/meta.ts';
import { latestSeq } from '../../store/records/change-store.ts';
import { parseObjectText } from '../../store/records/record-name.ts';
import { addNotification } from '../../store/notifications/notifications.ts';
import { streamChanges, type RecordedChange } from '../../events/read-changes.ts';

/** A setting of `alerts`: the values of a field that people want to be notified of. The limits are decimals. */
export interface AlertRule {
  readonly kind: string;
  readonly field: string;
  readonly above?: string | undefined;
  readonly below?: string | undefined;
  readonly changed?: true | undefined;
}

const POLL_MS = 2_000;

/** Notifies receivers of changes that match a rule. Returns a function that stops it. */
export function startAlerts(mirror: MirrorContext, rules: readonly AlertRule[]): () => Promise<void> {
  const task = async (signal: AbortSignal): Promise<void> => {
    for (const rule of rules) await matchNewChanges(mirror.session, rule, mirror.clock.now(), signal);
  };
  return repeatTask(mirror, 'looking for alerts', POLL_MS, task).stop;
}

/** The shortest time between two messages of one rule; events that match meanwhile share the next one. */
const QUIET_MS = 600_000;
const SHOWN = 10;

/** How far the events are judged by a rule, and when the last notification was sent. */
interface AlertPosition {
  readonly seq: number;
  readonly notifiedAt: string | null;
}

const positionKey = (rule: AlertRule) => `alerts.${JSON.stringify(rule)}` as const;

/** Judges the events after a rule's position and adds one notification for all matching events. A new rule starts with the next event. */
export async function matchNewChanges(session: Session, rule: AlertRule, now: Date, signal?: AbortSignal) {
  const upTo = await latestSeq(session);
  const stored = await readAlertPosition(session, rule);
  const { seq: after, notifiedAt } = stored ?? { seq: upTo, notifiedAt: null };
  if (stored !== null && (isTooSoon(notifiedAt, now) || upTo <= after)) return;
  const matches: number[] = [];
  for await (const event of streamChanges(session, { after, upTo, kind: rule.kind }, signal))
    if (isMatch(rule, event)) matches.push(event.seq);
  if (signal?.aborted) return; // The next process begins here again.
  const position = { seq: upTo, notifiedAt: matches.length > 0 ? formatInstant(now) : notifiedAt };
  await session.atomically(async (tx) => {
    if ((await readAlertPosition(tx, rule))?.seq !== stored?.seq) return; // Another process has notified them.
    const { kind, field, above, below } = rule;
    const is = above === undefined ? (below === undefined ? 'changed' : 'below') : 'above';
    const seqs = matches.slice(0, SHOWN);
    const facts = { field, is, limit: above ?? below ?? null, changes: matches.length, seqs };
    const key = JSON.stringify([position.notifiedAt, facts]);
    if (seqs.length > 0) await addNotification(tx, { type: 'alert.matched', kind, facts, key, now });
    await writeMeta(tx, positionKey(rule), JSON.stringify(position));
  });
}

const isTooSoon = (notifiedAt: string | null, now: Date): boolean =>
  notifiedAt !== null &&
  !isFromFastClock(notifiedAt, now) &&
  now.getTime() - parseInstant(notifiedAt).getTime() < QUIET_MS;

const readAlertPosition = async (db: Queryable, rule: AlertRule) =>
  (await readMetaJson(db, positionKey(rule))) as AlertPosition | null;

type Judged = Pick<RecordedChange, 'change' | 'before' | 'after' | 'fields'>;

/** Whether an event matches a rule. A value beyond a limit matches once, when it crosses the limit. */
export function isMatch(rule: AlertRule, event: Judged): boolean {
  const { field, above, below } = rule;
  if (event.change === 'deleted') return false;
  if (above === undefined && below === undefined)
    return event.change === 'updated' && Object.hasOwn(parseObject(event.fields), field);
  const isBeyond = (raw: string | null): boolean => {
    const value = decimalValue(raw, field);
    if (value === null) return false;
    return above === undefined ? isLessThan(value, below ?? value) : isLessThan(above, value);
  };
  return isBeyond(event.after) && !isBeyond(event.before);
}

/** The value of a field as a decimal; null if it is not a number. */
function decimalValue(raw: string | null, field: string): string | null {
  const value = parseObjectText(raw)[field];
  return typeof value === 'string' || isNumber(value) ? canonicalNumber(String(value)) : null;
}
