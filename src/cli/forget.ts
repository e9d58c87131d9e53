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
import { printLine, type Io } from './parts/io.ts';
import { commandLineDecider } from './parts/operation-command.ts';
import { kindOfRecord } from './record.ts';

export function forgetCommand(context: CommandContext): Command {
  return createCommand('forget')
    .argument('<kind>', 'record kind')
    .argument('<id>', 'id of the record')
    .option('--suppress', 'also if the service still lists it; excludes it from now on')
    .option('--yes', 'do not ask for confirmation; required without a terminal')
    .action(async (name: string, id: string, options: CommonOptions & { suppress?: true; yes?: true }) => {
      const config = await context.keptSettings(options);
      const kind = kindOfRecord(config, name, id, 'forget');
      const wanted = { kind, id, suppress: options.suppress ?? false };
      const plan = await readForgetPlan(config, wanted);
      if (!options.yes) await confirmForgetting(context.io, wanted, plan);
      const erased = await eraseRecord(config, wanted);
      const mirror = sqlitePath(config.database.url);
      // Whether the free space of a SQLite file was cleared of it too; null in PostgreSQL.
      const scrubbed = mirror === null ? null : scrubFile(mirror) === null;
      const report = { kind: name, id, suppressed: wanted.suppress, erased, scrubbed };
      context.printResult(options, report, reportLines(wanted, erased, scrubbed));
      if (scrubbed === false) context.exit(EXIT.incomplete);
    });
}

/** Lists what would be forgotten and refuses what must be kept. Closes the mirror before the question. */
async function readForgetPlan(config: Config, wanted: Forgettable): Promise<ForgetPlan> {
  await using session = await openExistingMirror(config);
  return await planForgetting(session, wanted);
}

/** With a session of its own: the file is rewritten without one. */
async function eraseRecord(config: Config, wanted: Forgettable): Promise<Forgotten> {
  await using session = await openExistingMirror(config);
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

/** @throws {UsageError} Where there is no terminal to ask at, or the answer is not the id. */
async function confirmForgetting(io: Io, request: Forgettable, plan: ForgetPlan): Promise<void> {
  const refuse = (message: string): UsageError =>
    new UsageError(message, { code: 'usage.forget', hint: 'Nothing was forgotten.' });
  if (io.stdin.isTTY !== true) throw refuse('No terminal to ask for confirmation: add --yes.');
  const { standing, events, issues, entries } = plan;
  const row = standing === 'absent' ? 'no row' : `a ${standing} row`;
  printLine(io.stderr, [
    `${request.kind.name} ${request.id}: ${row}; events: ${events}, issues: ${issues}, entries of the outbox: ${entries}.`,
    'Their content is removed permanently. The service is not changed. Back-ups and exports still have it.',
  ]);
  io.stderr.write(`Type the id again to forget the record: `);
  let typed = '';
  for await (const chunk of io.stdin) {
    typed += typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk);
    if (typed.includes('\n')) break;
  }
  const [line = ''] = typed.split('\n');
  if (line.trim() !== request.id) throw refuse('The id does not match.');
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
