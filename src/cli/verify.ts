import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { openConfiguredSource } from '../app/open-source.ts';
import { pullSettings } from '../app/pull.ts';
import type { KindComparison } from '../report/verify/verify-kind.ts';
import { listedKinds } from '../config/known-kinds.ts';
import { systemClock } from '../lib/time/clock.ts';
import { createOwner } from '../pull/run/parts.ts';
import { verifyKinds } from '../runs/verify-kinds.ts';
import type { VerifyReport } from '../runs/verify-kinds.ts';
import { createCommand, loggerOf, settingsOf, EXIT } from './parts/command.ts';
import type { CommonOptions, CommandContext, ExitCode } from './parts/command.ts';
import { printJson, printLine, textTable } from './parts/io.ts';
import type { Output } from './parts/io.ts';
import { showingProgress } from './parts/progress.ts';

const DIFFERENCES_SHOWN = 20;

export function verifyCommand(context: CommandContext): Command {
  return createCommand('verify', 'compare the mirror with the service, record by record')
    .argument('[kind...]', 'record kinds (default: all)')
    .action((kinds: string[], options: CommonOptions) => runVerify(context, kinds, options));
}

async function runVerify(
  context: CommandContext,
  kinds: readonly string[],
  options: CommonOptions,
): Promise<void> {
  const config = settingsOf(context, options);
  const wanted = listedKinds(config, kinds);
  const { signal } = context.io;
  const report = await showingProgress(context.io, { of: wanted.length }, async ({ onProgress, stderr }) => {
    const logger = loggerOf(context, config, stderr);
    await using source = openConfiguredSource(config, { clock: systemClock, logger });
    await using session = await openExistingMirror(config);
    const parts = { session, source, clock: systemClock, owner: createOwner(), logger, onProgress, signal };
    return await verifyKinds(parts, wanted, pullSettings(config));
  });
  if (options.json) printJson(context.io.stdout, report);
  else printReport(context.io.stdout, report);
  context.exit(exitCodeOf(report));
}

/**
 * A verification that could compare nothing has failed; one that found a difference, or could not compare everything, is
 * incomplete.
 */
function exitCodeOf({ kinds }: VerifyReport): ExitCode {
  if (kinds.every(({ reason, differs }) => reason === null && differs === 0)) return EXIT.done;
  return kinds.every(isBarred) ? EXIT.failed : EXIT.incomplete;
}

function isBarred({ reason, same, moved, differs, quarantined }: KindComparison): boolean {
  return reason !== null && reason !== 'interrupted' && same + moved + differs + quarantined === 0;
}

/** Prints a report for a person: one line a kind, the first differences, and advice. */
function printReport(stdout: Output, { runId, durationMs, kinds }: VerifyReport): void {
  const header = ['kind', 'same', 'moved', 'differs', 'missing', 'surplus', 'quarantined', 'not compared'];
  const rows = kinds.map((kind) => [
    kind.kind,
    kind.same,
    kind.moved,
    kind.differs,
    kind.missing,
    kind.surplus,
    kind.quarantined,
    kind.reason,
  ]);
  printLine(stdout, textTable(header, rows));
  printLine(stdout, `\nRun ${runId} took ${(durationMs / 1000).toFixed(1)} s.`);
  for (const { kind, detail } of kinds) if (detail !== null) printLine(stdout, `${kind}: ${detail}`);
  printDifferences(stdout, kinds);
}

function printDifferences(stdout: Output, kinds: readonly KindComparison[]): void {
  const wrong = kinds.filter(({ differs }) => differs > 0);
  if (wrong.length === 0) return;
  const all = wrong.flatMap(({ kind, differences }) => differences.map((one) => ({ kind, ...one })));
  const rows = all
    .slice(0, DIFFERENCES_SHOWN)
    .map(({ kind, id, field, service, mirror }) => [kind, id, field, quoted(service), quoted(mirror)]);
  printLine(stdout, '\nWhere the mirror is wrong:');
  printLine(stdout, textTable(['kind', 'id', 'field', 'service', 'mirror'], rows));
  if (all.length > rows.length) printLine(stdout, '… --json tells up to 100 a kind.');
  const repairs = wrong.flatMap(({ repair }) => repair ?? []);
  if (repairs.length > 0) printLine(stdout, '\nTo read these records again:');
  for (const repair of repairs) printLine(stdout, `  ${repair}`);
}

/** In quotes, so that spaces and line ends at either side are seen; nothing if there is no value. */
const quoted = (value: string | null): string => (value === null ? '' : JSON.stringify(value));
