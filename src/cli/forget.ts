import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { TABLE_OWNERS } from '../feature-hooks.ts';
import type { Config } from '../config/settings.ts';
import { UsageError } from '../lib/sync-error.ts';
import { systemClock } from '../lib/time/clock.ts';
import { sqlitePath } from '../db/open-session.ts';
import { saveDecision } from '../store/users/decision-store.ts';
import {
  forgetRecord,
  planForgetting,
  type Forgettable,
  type Forgotten,
  type ForgetPlan,
} from '../store/records/forget-record.ts';
import { scrubFile } from '../db/sqlite/scrub.ts';
import { createCommand, EXIT, type CommonOptions, type CommandContext } from './parts/command.ts';
import { commandLineDecider } from './parts/operation-command.ts';
import { kindOfRecord } from './record.ts';

export function forgetCommand(context: CommandContext): Command {
  return createCommand('forget')
    .argument('<kind>', 'record kind')
    .argument('<id>', 'id of the record')
    .option('--suppress', 'also if the service still lists it; excludes it from now on')
    .option('--yes', 'forget it; without this, the command only shows what would be removed')
    .action(async (name: string, id: string, options: CommonOptions & { suppress?: true; yes?: true }) => {
      const config = await context.keptSettings(options);
      const kind = kindOfRecord(config, name, id, 'forget');
      const wanted = { kind, id, suppress: options.suppress ?? false };
      const erased = await eraseRecord(config, wanted, options.yes ?? false);
      const mirror = sqlitePath(config.database.url);
      // Whether the free space of a SQLite file was cleared of it too; null in PostgreSQL.
      const scrubbed = mirror === null ? null : scrubFile(mirror) === null;
      const report = { kind: name, id, suppressed: wanted.suppress, erased, scrubbed };
      context.printResult(options, report, reportLines(wanted, erased, scrubbed));
      if (scrubbed === false) context.exit(EXIT.incomplete);
    });
}

/** Forgets a record, in a session of its own: the file is rewritten without one. */
async function eraseRecord(config: Config, wanted: Forgettable, isConfirmed: boolean): Promise<Forgotten> {
  await using session = await openExistingMirror(config);
  const plan = await planForgetting(session, wanted); // Refuses what must be kept.
  if (!isConfirmed) throw unconfirmed(wanted, plan);
  await session.makeDurable(); // A power cut must not return a record that was reported as forgotten.
  const by = commandLineDecider();
  const now = systemClock.now();
  return await session.atomically(async (tx) => {
    const target = `${wanted.kind.name} ${wanted.id}`;
    const detail = wanted.suppress ? 'suppress' : null;
    await saveDecision(tx, { ...by, what: 'forget', target, detail }, now);
    return await forgetRecord(tx, { ...wanted, by: by.who, now, owners: TABLE_OWNERS });
  });
}

function unconfirmed({ kind, id }: Forgettable, plan: ForgetPlan): UsageError {
  const { standing, events, issues, entries } = plan;
  const row = standing === 'absent' ? 'no row' : `a ${standing} row`;
  const counts = `events: ${events}, issues: ${issues}, entries of the outbox: ${entries}`;
  return new UsageError(
    `${kind.name} ${id}: ${row}; ${counts}. Nothing was forgotten: to remove their content permanently, add --yes.`,
    {
      code: 'usage.forget',
      hint: 'The service is not changed. Back-ups and exports still have it.',
    },
  );
}

function* reportLines(
  request: Forgettable,
  { row, ...traces }: Forgotten,
  scrubbed: boolean | null,
): Iterable<string> {
  const counts = Object.entries(traces).map(([name, count]) => `${name}: ${count}`);
  const suppressedNote = request.suppress ? ' It is excluded from now on.' : '';
  yield `${request.kind.name} ${request.id} is forgotten: ${row ? 'its row' : 'no row'}; ${counts.join(', ')}.${suppressedNote}`;
  if (scrubbed === false)
    yield 'Another process used the file, so its free space still has the content. Run this again.';
  yield 'Back-ups, exports, snapshots and receivers of its events still have it.';
}
