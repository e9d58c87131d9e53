import { isArray, isObject, plainJson } from '../../lib/json/json.ts';
import type { Entry } from '../../store/outbox/outbox-store.ts';
import { jsonOrText, type EntryHistory, type OutboxList } from '../../outbound/decisions/entry-list.ts';
import { RESUME, pauseText } from '../../store/outbox/freeze-store.ts';
import { sentence } from '../../lib/text/text.ts';
import { VERDICTS, awaitedBy, explain } from '../../words/verdicts.ts';
import { truncateText, textTable, utc, type Printed } from './io.ts';

const LONGEST_PAYLOAD = 50;

/** Lists entries for a person, after the reason that stops all sends; of `ended` ones, which it leaves out, their number. */
export function* outboxTexts(
  list: OutboxList,
  ended: Readonly<Record<'done' | 'abandoned', number>>,
): Iterable<Printed> {
  const { entries, blockedKinds, frozen } = list;
  if (frozen !== null) yield `${sentence(pauseText(frozen))} ${RESUME}\n`;
  for (const { kind, reason, probeAt } of blockedKinds)
    yield `Writes of ${kind} are refused (${reason}); next attempt at ${utc(probeAt)}.\n`;
  if (entries.length === 0) {
    const counts = Object.entries(ended).flatMap(([state, n]) => (n > 0 ? [`${n} ${state}`] : []));
    yield counts.length === 0 ? 'No entries.' : `No open entries (${counts.join(', ')}: --all)`;
    return;
  }
  const times = 'next step (UTC),not resent before (UTC)';
  const names = `entry,state,verdict,operation,kind,record,tries,${times},payload`.split(',');
  const rows = entries.map((entry) => {
    const { id, state, verdict, operation, kind, recordId, attempts, nextAttemptAt } = entry;
    const { resendAt = null } = entry.settlement;
    const payload = truncateText(entry.payload, LONGEST_PAYLOAD);
    return [id, state, verdict, operation, kind, recordId, attempts, nextAttemptAt, resendAt, payload];
  });
  yield textTable(names, rows);
  if (entries.some(({ verdict, settlement }) => [verdict, settlement.stop].includes('writes_off')))
    yield `\n${VERDICTS.writes_off}`;
  for (const entry of entries) {
    const awaited = awaitedBy(entry);
    if (awaited !== null) yield `\nEntry ${entry.id}: ${awaited}`;
  }
  if (entries.some((entry) => entry.state === 'parked' || entry.state === 'rejected'))
    yield '\nTo see what to do: bms-sync outbox show ENTRY';
}

export function* historyTexts(history: EntryHistory): Iterable<Printed> {
  const { entry, attempts } = history;
  const { id, operation, kind, recordId, state, verdict, key } = entry;
  const { meaning, next } = explain(entry);
  const target = recordId === null ? '' : ` ${recordId}`;
  yield `Entry ${id}: ${operation} ${kind}${target}. Key: ${key}`;
  yield `${state}${verdict === null ? '' : ` (${verdict})`}: ${meaning}`;
  for (const step of next) yield `  ${step}`;
  yield '';
  for (const [name, fact] of factsOf(history)) if (fact !== null) yield `${name}: ${fact}`;
  yield* fieldTexts(entry);
  yield* candidateTexts(history);
  for (const { n, openedAt, closedAt, grade, status, request, responseStart } of attempts) {
    const end = closedAt === null ? 'not answered yet' : `${grade ?? 'closed'} at ${utc(closedAt)}`;
    yield `\nAttempt ${n}, ${utc(openedAt)}: ${end}${status === null ? '' : `, status ${status}`}`;
    for (const line of request.split('\n')) yield `  ${line}`;
    if (responseStart !== null) yield `  → ${responseStart}`;
  }
}

function factsOf(history: EntryHistory): (readonly [string, string | null])[] {
  const { entry, isMaker, candidates } = history;
  const unknown = 'unknown fields are sent, too';
  return [
    ['payload', entry.payload],
    ['base', entry.base],
    ['allow_unknown', entry.allowsUnknown ? unknown : null],
    ['result', entry.result],
    ['candidates', candidates.map((candidate) => candidate.id).join(', ') || null],
    ['made', isMaker ? `record ${entry.recordId ?? ''}` : null],
    ['pushed by', entry.pushedBy],
    ['stored', utc(entry.createdAt)],
    ['changed', utc(entry.updatedAt)],
    [
      entry.state === 'unsettled' ? 'next look' : 'next attempt',
      entry.nextAttemptAt && utc(entry.nextAttemptAt),
    ],
  ];
}

/** Fields that are in conflict, that the service did not accept, or that it stored otherwise. */
function* fieldTexts(entry: Entry): Iterable<Printed> {
  const result = jsonOrText(entry.result);
  if (!isObject(result)) return;
  const { altered } = result;
  const fields = altered ?? result['conflicts'] ?? result['fields'];
  if (!isArray(fields) || fields.length === 0) return;
  const columns = altered === undefined ? ['field', 'base', 'remote', 'wanted'] : ['field', 'sent', 'shown'];
  const rows = fields
    .filter(isObject)
    .map((field) => columns.map((column) => plainJson(field[column] ?? null)));
  yield '';
  yield textTable(columns, rows);
}

/** The sent fields, next to the records that the create may have made. */
function* candidateTexts(history: EntryHistory): Iterable<Printed> {
  const { entry, candidates } = history;
  const sent = jsonOrText(entry.payload);
  if (candidates.length === 0 || !isObject(sent)) return;
  const records = candidates.map((candidate) => jsonOrText(candidate.raw));
  const rows = Object.entries(sent).map(([name, value]) => {
    const held = records.map((record) =>
      isObject(record) ? plainJson(record[name] ?? null) : '(not in the mirror)',
    );
    return [name, plainJson(value), ...held];
  });
  yield '';
  yield textTable(['field', 'sent', ...candidates.map((candidate) => `record ${candidate.id}`)], rows);
}
