import { Option } from 'commander';
import type { Command } from 'commander';
import { openExistingMirror } from '../app/open-mirror.ts';
import { allKinds } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { UsageError } from '../lib/sync-error.ts';
import { systemClock } from '../lib/time/clock.ts';
import { openExport } from '../report/export/export-source.ts';
import type { ExportWish } from '../report/export/export-source.ts';
import { EXPORT_FORMATS, ExportStopped, exportFile, exportText } from '../report/export/export.ts';
import type { ExportFormat, ExportOptions } from '../report/export/export.ts';
import { outputFault, outputFile } from '../report/output-file.ts';
import { EXIT, createCommand, settingsOf } from './parts/command.ts';
import type { CommonOptions, CommandContext } from './parts/command.ts';
import { printJson, printLine } from './parts/io.ts';
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
    .action((what: string, options: ExportCommandOptions) => runExport(context, what, options));
}

async function runExport(
  context: CommandContext,
  what: string,
  options: ExportCommandOptions,
): Promise<void> {
  const { io } = context;
  refuseMixture(options);
  const progress = createExportProgress(what, io.stderr);
  try {
    const { onRows } = progress;
    const { format, raw: isRaw = false, asOf, out } = options;
    const request = { what, format, isRaw, asOf, out, onRows, signal: io.signal };
    const config = settingsOf(context, options);
    const { report, remark } = await exportRows(config, request, writerOf(io));
    progress.stop();
    if (remark !== null) printLine(io.stderr, remark);
    if (report === null) return;
    if (options.json) printJson(io.stdout, report);
    else printLine(io.stdout, `${report.file}: ${report.rows} rows, ${report.bytes} bytes.`);
  } catch (error) {
    if (error instanceof ReaderGone) return;
    if (!(error instanceof ExportStopped)) throw error;
    printLine(io.stderr, 'Stopped before the last row.');
    context.exit(EXIT.incomplete);
  } finally {
    progress.stop();
  }
}

interface ExportRequest extends ExportOptions, ExportWish {
  /** The file to write; undefined = stdout. */
  readonly out: string | undefined;
}

/**
 * Exports the rows of a kind or a view. The report is null where they went to stdout.
 *
 * @throws {UsageError} For an unknown name, an instant whose state is not known, or a file that cannot be written.
 * @throws {ExportStopped} If the signal fires first.
 */
async function exportRows(config: Config, request: ExportRequest, write: (text: string) => Promise<void>) {
  const { out, format } = request;
  const path = out === undefined ? null : outputFile(config, out);
  await using session = await openExistingMirror(config);
  const wish = { ...request, now: systemClock.now() };
  const { source, remark } = await openExport(session, allKinds(config), wish);
  if (path === null) {
    await exportText(source, write, request);
    return { report: null, remark };
  }
  try {
    const { rows, bytes } = await exportFile(source, path, request);
    return { report: { rows, bytes, file: path, format }, remark };
  } catch (error) {
    throw outputFault(error, path);
  }
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
