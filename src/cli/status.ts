import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { schedulesOf } from '../app/schedules.ts';
import { allKinds } from '../config/known-kinds.ts';
import { systemClock } from '../lib/time/clock.ts';
import { outcomeWords } from '../mirror/kinds/outcome-words.ts';
import { createOwner } from '../pull/run/parts.ts';
import { readStatusReport } from '../checks/status.ts';
import type { Status, StatusReport } from '../checks/status.ts';
import { printDisappeared } from './deletions.ts';
import { createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { printJson, printLine, textTable } from './parts/io.ts';
import type { Output } from './parts/io.ts';

export function statusCommand(context: CommandContext): Command {
  return createCommand('status', 'show how fresh and how sound the mirror is').action(
    async (options: CommonOptions) => {
      const config = settingsOf(context, options);
      const schedules = schedulesOf(config);
      await using session = await openExistingMirror(config);
      const outlook = { schedules, isDead: createOwner().isDead, now: systemClock.now() };
      const status = await readStatusReport(session, allKinds(config), outlook);
      if (options.json) printJson(context.io.stdout, status);
      else printStatus(context.io.stdout, status);
    },
  );
}

function printStatus(stdout: Output, status: StatusReport): void {
  const { database, kinds, issues, drift } = status;
  printLine(stdout, `Mirror: ${database}\n`);
  const needs = [
    ...damageNeeds(status),
    ...kinds.flatMap(needsOf),
    ...outboxNeeds(status),
    ...webhookNeeds(status),
  ];
  if (needs.length > 0) printLine(stdout, `Needs you: ${needs.join(', ')}\n`);
  printKinds(stdout, status);
  printUncertified(stdout, status);
  printDisappeared(stdout, status.disappeared);
  printOutbox(stdout, status);
  if (issues.length > 0) printIssues(stdout, issues);
  if (drift.length > 0) printDrift(stdout, drift);
}

const wordsOf = ({ state, reason }: Status['kinds'][number]): ReturnType<typeof outcomeWords> =>
  outcomeWords({ state, reason });

function printKinds(stdout: Output, { kinds, nextPulls, isServed }: StatusReport): void {
  const instants = ['last sweep (UTC)', 'certified (UTC)', 'last change (UTC)'];
  const header = ['kind', 'state', 'rows', ...instants, 'open issues', 'next pull (UTC)'];
  const next = new Map(nextPulls.map(({ kind, at }) => [kind, at.slice(0, 16)]));
  const rows = kinds.map((row) => [
    row.kind,
    wordsOf(row).label,
    row.rows,
    row.last_sweep_at,
    row.certified_at,
    row.last_change_at,
    row.open_issues,
    next.get(row.kind) ?? '-',
  ]);
  printLine(stdout, textTable(header, rows));
  if (nextPulls.length > 0 && !isServed)
    printLine(stdout, '\nNo background service is running: the next pulls wait for bms-sync serve.');
}

function needsOf(row: Status['kinds'][number]): string[] {
  const { kind, state, held_deletions: held } = row;
  return [
    ...(state === 'invalid' || state === 'aborted' ? [`${kind} (${wordsOf(row).why ?? state})`] : []),
    ...(held > 0 ? [`${kind} (${held} deletions are held: bms-sync deletions)`] : []),
  ];
}

function damageNeeds({ damage }: Status): string[] {
  return damage === null ? [] : [`${damage.reason}, seen ${damage.since} UTC (bms-sync doctor)`];
}

function outboxNeeds({ outbox, blockedKinds, frozen }: Status): string[] {
  return [
    ...(frozen === null ? [] : [`nothing is sent: ${frozen.reason} (bms-sync outbox resume)`]),
    ...(outbox.parked > 0 ? [`${outbox.parked} parked in the outbox (bms-sync outbox)`] : []),
    ...blockedKinds.map(({ kind, reason }) => `${kind} may not be written (${reason})`),
  ];
}

function webhookNeeds({ failingEndpoints }: Status): string[] {
  return failingEndpoints.map(({ name, health, since }) => {
    const state = health === 'disabled' ? 'is disabled' : 'takes no deliveries';
    return `the webhook endpoint ${name} ${state}${since === null ? '' : ` since ${since} UTC`} (bms-sync webhooks)`;
  });
}

/** Kinds that are not certified, with the work that waits for a certificate; nothing if all are certified. */
function printUncertified(stdout: Output, { uncertified, holds }: Status): void {
  if (uncertified.length > 0) {
    const header = ['kind', 'not since (UTC)', 'why', 'suspected deletions', 'held', 'unsettled creates'];
    const rows = uncertified.map(({ kind, since, why, waiting }) => [
      kind,
      since ?? 'never was',
      why,
      waiting.suspectedDeletions,
      waiting.heldDeletions,
      waiting.unsettledCreates,
    ]);
    printLine(stdout, '\nNot certified, with the work that waits for it:');
    printLine(stdout, textTable(header, rows));
    for (const line of nextLines(uncertified)) printLine(stdout, line);
  }
  const released = holds.filter(({ state }) => state === 'released');
  for (const { kind, records } of released)
    printLine(stdout, `\n${records} held deletions of ${kind} go on to their proof by themselves.`);
}

/** The next pull's part in it: one line for all kinds that share it. */
function nextLines(uncertified: Status['uncertified']): string[] {
  const alike = Map.groupBy(uncertified, ({ next }) => next);
  return [...alike].flatMap(([next, kinds]) =>
    next === null ? [] : [`${kinds.map(({ kind }) => kind).join(', ')}: ${next}`],
  );
}

/** The states of the outbox without the empty ones; nothing if it was never used. */
function printOutbox(stdout: Output, { outbox }: Status): void {
  const counts = Object.entries(outbox).filter(([, count]) => count > 0);
  if (counts.length === 0) return;
  printLine(stdout, `\nOutbox: ${counts.map(([state, count]) => `${count} ${state}`).join(', ')}`);
}

function printIssues(stdout: Output, issues: Status['issues']): void {
  printLine(
    stdout,
    '\nOpen issues (`issues.detail` tells more; what fits no rule is in `_raw` as it was sent):',
  );
  const rows = issues.map(({ kind, field, code, count }) => [kind, field, code, count]);
  printLine(stdout, textTable(['kind', 'field', 'code', 'records'], rows));
}

function printDrift(stdout: Output, drift: Status['drift']): void {
  printLine(stdout, '\nThe service has changed how it answers:');
  const rows = drift.map(({ seenAt, kind, code, field, detail }) => [seenAt, kind, code, field, detail]);
  printLine(stdout, textTable(['seen (UTC)', 'kind', 'change', 'field', 'detail'], rows));
}
