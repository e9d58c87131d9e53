import { Option } from 'commander';
import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { allKinds } from '../config/known-kinds.ts';
import { UsageError } from '../lib/sync-error.ts';
import { systemClock } from '../lib/time/clock.ts';
import { openExport } from '../report/export/export-source.ts';
import { EXPORT_FORMATS, ExportStopped, exportFile, exportText } from '../report/export/export.ts';
import type { ExportFormat } from '../report/export/export.ts';
import { outputFile } from '../report/output-file.ts';
import { EXIT, answer, createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { printLine } from './parts/io.ts';
import type { Io } from './parts/io.ts';
import { createExportProgress } from './parts/progress.ts';

interface ExportCommandOptions extends CommonOptions {
  readonly format: ExportFormat;
  readonly asOf?: string;
  readonly out?: string;
  readonly raw?: true;
}

export function exportCommand(context: CommandContext): Command {
  return createCommand('export', 'write the rows of a record kind or a view as CSV or NDJSON')
    .argument('<kind|view>', 'record kind, or a view such as bi_changes')
    .addOption(new Option('--format <format>', 'how').choices(EXPORT_FORMATS).makeOptionMandatory())
    .option(
      '--as-of <instant>',
      "a kind's rows as they were: 2026-03-01T12:00:00Z, or a date for its end in UTC",
    )
    .option('--out <file>', 'write this file, which appears whole (default: stdout)')
    .option('--raw', 'leave texts in CSV that a spreadsheet would run as formulas as they are')
    .action(async (what: string, options: ExportCommandOptions) => {
      const { io } = context;
      const { format, raw: isRaw = false, asOf, out } = options;
      refuseMixture(options);
      const progress = createExportProgress(what, io.stderr);
      const how = { format, isRaw, onRows: progress.onRows, signal: io.signal };
      try {
        const config = settingsOf(context, options);
        const file = out === undefined ? null : outputFile(config.database.url, out);
        await using session = await openExistingMirror(config);
        const wish = { what, asOf, now: systemClock.now() };
        const { source, remark } = await openExport(session, allKinds(config), wish);
        const written = file === null ? null : { ...(await exportFile(source, file, how)), file, format };
        if (written === null) await exportText(source, writerOf(io), how);
        progress.stop();
        if (remark !== null) printLine(io.stderr, remark);
        if (written === null) return;
        const lines = [`${written.file}: ${written.rows} rows, ${written.bytes} bytes.`];
        answer(context, options, written, lines);
      } catch (error) {
        if (error instanceof ReaderGone) return;
        if (!(error instanceof ExportStopped)) throw error;
        printLine(io.stderr, 'Stopped before the last row.');
        context.exit(EXIT.incomplete);
      } finally {
        progress.stop();
      }
    });
}

/** @throws {UsageError} For a document and rows on the same output. */
function refuseMixture({ json, out, format, raw }: ExportCommandOptions): void {
  const refuse = (message: string, hint: string): UsageError =>
    new UsageError(message, { code: 'usage.export', hint });
  if (json && out === undefined)
    throw refuse('Without --out the rows are on stdout, where --json has no place.', 'Add --out FILE.');
  if (raw && format !== 'csv') throw refuse('--raw is for CSV: other formats never change a text.', '');
}

/** The reader of stdout has gone: `bms-sync export clients --format csv | head`. */
class ReaderGone extends Error {
  override readonly name = 'ReaderGone';
}

const writerOf =
  ({ stdout }: Io) =>
  (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const isTaken = stdout.write(text, (error) => {
        if (error) reject(new ReaderGone(error.message));
        else resolve();
      });
      if (isTaken !== false) resolve();
    });
