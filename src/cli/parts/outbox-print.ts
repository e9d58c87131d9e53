import { compactJson, isArray, isObject } from '../../lib/json/json.ts';
import type { Attempt } from '../../mirror/outbox/attempts-and-links.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import { jsonOrText } from '../../outbound/decisions/entry-list.ts';
import type { History, OutboxList } from '../../outbound/decisions/entry-list.ts';
import { awaitedBy, explain } from '../../outbound/decisions/verdicts.ts';
import { beginning, printLine, textTable } from './io.ts';
import type { Output } from './io.ts';

const LONGEST_PAYLOAD = 50;

/** Prints entries for a person, after the reason that stops all sends, if there is one. */
export function printOutbox(stdout: Output, { entries, blockedKinds, frozen }: OutboxList): void {
  if (frozen !== null)
    printLine(
      stdout,
      `Nothing is sent since ${frozen.since} UTC: ${frozen.reason}. When you have looked: bms-sync outbox resume\n`,
    );
  for (const { kind, reason, probeAt } of blockedKinds)
    printLine(stdout, `${kind} may not be written (${reason}); it is tried again at ${probeAt} UTC.\n`);
  if (entries.length === 0) {
    printLine(stdout, 'No entries.');
    return;
  }
  const header = [
    'entry',
    'state',
    'verdict',
    'operation',
    'kind',
    'record',
    'tries',
    'next (UTC)',
    'payload',
  ];
  printLine(stdout, textTable(header, entries.map(rowOf)));
  for (const entry of entries) {
    const awaited = awaitedBy(entry);
    if (awaited !== null) printLine(stdout, `\nEntry ${entry.id}: ${awaited}`);
  }
  if (entries.some(({ state }) => state === 'parked' || state === 'rejected'))
    printLine(stdout, '\nWhat to do about one: bms-sync outbox show ENTRY');
}

function rowOf(entry: Entry): (string | number | null)[] {
  const { id, state, verdict, operation, kind, recordId, attempts, nextAttemptAt, payload } = entry;
  return [
    id,
    state,
    verdict,
    operation,
    kind,
    recordId,
    attempts,
    nextAttemptAt,
    beginning(payload, LONGEST_PAYLOAD),
  ];
}

/** Prints one entry for a person: its content, its state, its attempts. */
export function printHistory(stdout: Output, history: History): void {
  const { entry, attempts } = history;
  const { id, operation, kind, recordId, state, verdict, key } = entry;
  const { meaning, next } = explain(entry);
  const target = recordId === null ? '' : ` ${recordId}`;
  printLine(stdout, `Entry ${id}: ${operation} ${kind}${target}. Key: ${key}`);
  printLine(stdout, `${state}${verdict === null ? '' : ` (${verdict})`}: ${meaning}`);
  for (const step of next) printLine(stdout, `  ${step}`);
  printLine(stdout);
  for (const [name, fact] of factsOf(history)) if (fact !== null) printLine(stdout, `${name}: ${fact}`);
  printFields(stdout, entry);
  printCandidates(stdout, history);
  for (const attempt of attempts) printAttempt(stdout, attempt);
}

function factsOf({ entry, isMaker, candidates }: History): (readonly [string, string | null])[] {
  return [
    ['payload', entry.payload],
    ['base', entry.base],
    [
      'allow_unknown',
      entry.allowsUnknown ? 'fields that are neither documented nor were ever seen are sent, too' : null,
    ],
    ['result', entry.result],
    ['candidates', candidates.map(({ id }) => id).join(', ') || null],
    ['made', isMaker ? `record ${entry.recordId ?? ''}` : null],
    ['stored', `${entry.createdAt} UTC`],
    ['changed', `${entry.updatedAt} UTC`],
    ['next try', entry.nextAttemptAt === null ? null : `${entry.nextAttemptAt} UTC`],
  ];
}

/** Fields that are in conflict, that the service did not accept, or that it stored otherwise. */
function printFields(stdout: Output, { result }: Entry): void {
  const noted = jsonOrText(result);
  if (!isObject(noted)) return;
  const { altered } = noted;
  const fields = altered ?? noted['conflicts'] ?? noted['fields'];
  if (!isArray(fields) || fields.length === 0) return;
  const columns = altered === undefined ? ['field', 'base', 'remote', 'wanted'] : ['field', 'sent', 'shown'];
  const rows = fields
    .filter(isObject)
    .map((field) => columns.map((column) => compactJson(field[column] ?? null)));
  printLine(stdout);
  printLine(stdout, textTable(columns, rows));
}

/** What was sent, beside the records that it may have made. */
function printCandidates(stdout: Output, { entry, candidates }: History): void {
  const sent = jsonOrText(entry.payload);
  if (candidates.length === 0 || !isObject(sent)) return;
  const records = candidates.map(({ raw }) => jsonOrText(raw));
  const rows = Object.entries(sent).map(([name, value]) => [
    name,
    compactJson(value),
    ...records.map((record) =>
      isObject(record) ? compactJson(record[name] ?? null) : '(not in the mirror)',
    ),
  ]);
  printLine(stdout);
  printLine(stdout, textTable(['field', 'sent', ...candidates.map(({ id }) => `record ${id}`)], rows));
}

function printAttempt(stdout: Output, attempt: Attempt): void {
  const { n, openedAt, closedAt, grade, status, request, responseStart } = attempt;
  const end = closedAt === null ? 'not answered yet' : `${grade ?? 'closed'} at ${closedAt} UTC`;
  printLine(stdout, `\nTry ${n}, ${openedAt} UTC: ${end}${status === null ? '' : `, status ${status}`}`);
  for (const line of request.split('\n')) printLine(stdout, `  ${line}`);
  if (responseStart !== null) printLine(stdout, `  → ${responseStart}`);
}
