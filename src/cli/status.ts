import type { Command } from 'commander';
import { schedulesOf } from '../app/schedules.ts';
import { allKinds } from '../config/known-kinds.ts';
import { isServiceWide } from '../catalog/fault-reasons.ts';
import { READ_AGAIN, outcomeLabel } from '../words/outcome-texts.ts';
import { readPause } from '../outbound/freeze.ts';
import { needsOfFeatures } from '../features.ts';
import { documentOf } from '../lib/json/document.ts';
import { sentence } from '../lib/text/text.ts';
import { TECHNICAL } from '../lib/text/translator.ts';
import { formatInstant } from '../lib/time/clock.ts';
import { OTHER_SCHEDULES_NOTE } from '../checks/serving.ts';
import { DRIFT_SHOWN, readStatusReport } from '../checks/status.ts';
import { statusDocument, type StatusDocument } from '../checks/status-document.ts';
import { disappearedTexts } from './decisions/deletions.ts';
import { createCommand, type CommandContext } from './parts/command.ts';
import { textTable, utc, type Printed } from './parts/io.ts';
import { readingCommand } from './parts/operation-command.ts';

export function statusCommand(context: CommandContext): Command {
  return readingCommand(context, createCommand('status'), async ({ session, config, parts }) => {
    const { clock, plans } = parts;
    const frozen = await readPause(parts);
    const outlook = { schedules: schedulesOf(config), now: clock.now(), frozen, plans, needsOfFeatures };
    const status = await readStatusReport(session, allKinds(config), outlook);
    return [documentOf(statusDocument, status), statusTexts(status, formatInstant(clock.now()))];
  });
}

function* statusTexts(status: StatusDocument, now: string): Iterable<Printed> {
  const { needs, failing, issues, drift, outbox } = status;
  yield `Mirror: ${status.database}\n`;
  for (const { title, why, since, command } of needs)
    yield `Needs you: ${title}. ${why}${since === null ? '' : ` Since ${utc(since)}.`} (${command})`;
  for (const { kinds, why, since, next } of failing)
    yield TECHNICAL.t(READ_AGAIN, {
      ...{ kinds: kinds.join(', '), why },
      ...{ first: utc(since), next: next > now ? utc(next) : 'due now' },
    });
  if (needs.length > 0 || failing.length > 0) yield '';
  yield* kindTexts(status, now);
  yield* uncertifiedTexts(status);
  yield* disappearedTexts(status.disappeared);
  const counts = Object.entries(outbox).filter(([, count]) => count > 0);
  if (counts.length > 0) yield `\nOutbox: ${counts.map(([state, count]) => `${count} ${state}`).join(', ')}`;
  if (issues.length > 0) {
    yield '\nOpen issues (details: `issues.detail`; original values: `_raw`):';
    const rows = issues.map((issue) => [issue.kind, issue.field, issue.code, issue.count]);
    yield textTable(['kind', 'field', 'code', 'records'], rows);
  }
  const byOurs = Map.groupBy(drift, (change) => change.code === 'excluded_field');
  yield* driftTexts('Fields emptied by your own settings (privacy.exclude)', byOurs.get(true));
  const limit = `the latest ${DRIFT_SHOWN} at most; all: the view bi_drift`;
  yield* driftTexts(`Changes in the answers of the service (${limit})`, byOurs.get(false));
}

function* driftTexts(title: string, changes: StatusDocument['drift'] = []): Iterable<Printed> {
  if (changes.length === 0) return;
  yield `\n${title}:`;
  const rows = changes.map((change) => {
    return [change.seenAt, change.kind, change.code, change.field, change.detail];
  });
  yield textTable(['seen (UTC)', 'kind', 'change', 'field', 'detail'], rows);
}

function* kindTexts(document: StatusDocument, now: string): Iterable<Printed> {
  const instants = ['last sweep (UTC)', 'list known exactly (UTC)', 'last change (UTC)'];
  const header = ['kind', 'state', 'rows', ...instants, 'open issues', 'next pull (UTC)'];
  const nextPulls = document.isServed ? document.nextPulls : [];
  const next = new Map(nextPulls.map(({ kind, at }) => [kind, at > now ? at : 'due now']));
  const rows = document.kinds.map((row) => [
    row.kind,
    outcomeLabel(row),
    row.rows,
    row.lastSweepAt,
    row.certifiedAt,
    row.lastChangeAt,
    row.openIssues,
    next.get(row.kind) ?? '-',
  ]);
  yield textTable(header, rows);
  for (const { kind, singleRows: n } of document.kinds)
    if (n > 0)
      yield `${kind}: ${n} of the rows ${n === 1 ? 'is' : 'are'} not in the list: shown by single answers alone.`;
  if (document.nextPulls.length > 0 && !document.isServed)
    yield '\nNo background service is running: nothing is pulled until bms-sync serve runs.';
  if (document.unscheduled.length > 0) yield `\nNo schedule pulls ${document.unscheduled.join(', ')}.`;
  if (document.schedulesDiffer) yield `\n${OTHER_SCHEDULES_NOTE}`;
}

/** Why kinds are not certified; nothing if all are. */
function* uncertifiedTexts({ needs, ...status }: StatusDocument): Iterable<Printed> {
  const isTokenNamed = needs.some((need) => need.type === 'token.refused'); // It names these kinds and what to do.
  const uncertified = status.uncertified.filter((kind) => !isTokenNamed || kind.reason !== 'unauthorized');
  if (uncertified.length > 0) yield '\nNot certified:';
  const causeOf = ({ reason, why, next }: (typeof uncertified)[number]): string =>
    JSON.stringify([isServiceWide(reason) ? reason : why, next]);
  for (const alike of Map.groupBy(uncertified, causeOf).values()) {
    const names = alike.map((status) => status.kind).join(', ');
    const example = new Set(alike.map(({ why }) => why)).size > 1 ? 'for example, ' : '';
    for (const { why, next } of alike.slice(0, 1))
      yield `${names}: ${example}${sentence(why)} ${next ?? ''}`.trimEnd();
  }
}
