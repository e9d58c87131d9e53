import { Option, type Command } from 'commander';
import { openExistingMirror } from '../../../app/open-mirror.ts';
import { allKinds } from '../../../config/known-kinds.ts';
import { UsageError } from '../../../lib/sync-error.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { expandIds } from '../../../runs/extent.ts';
import { openExport } from '../export-source.ts';
import {
  EXPORT_FORMATS,
  exportFile,
  exportTexts,
  formatOfFile,
  headingLanguage,
  type ExportFormat,
} from '../export.ts';
import { outputFile } from '../../../db/output-file.ts';
import { createCommand, type CommonOptions, type CommandContext } from '../../../cli/parts/command.ts';
import { printLine, rowsAndSize, type Io } from '../../../cli/parts/io.ts';
import { createLine } from '../../../cli/parts/progress.ts';

interface Options extends CommonOptions {
  readonly format?: ExportFormat;
  readonly excel?: true;
  readonly asOf?: string;
  readonly columns?: string;
  readonly ids?: string;
  readonly out?: string;
  readonly full?: true;
  readonly raw?: true;
}

export function exportCommand(context: CommandContext): Command {
  return createCommand('export')
    .argument('<kind|view>', 'record kind, or a view such as bi_changes')
    .addOption(
      new Option('--format <format>', 'format (default: from the file name)').choices(EXPORT_FORMATS),
    )
    .option('--excel', 'CSV for an Excel with decimal commas: opens with a double click')
    .option(
      '--as-of <instant>',
      'rows as they were at an instant (2026-03-01T12:00:00Z) or at the end of a date',
    )
    .option('--columns <list>', 'only these columns, in this order, e.g. id,name')
    .option('--ids <list>', 'only these records, e.g. 1,5-9')
    .option('--out <file>', 'write this file, which appears whole (default: stdout; - is stdout as CSV)')
    .option('--full', 'in a workbook, all columns by their names')
    .option('--raw', 'no column _version, and in CSV no apostrophe before texts that look like formulas')
    .action(async (what: string, given: Options) => {
      const options = withoutDash(given);
      const { io } = context;
      const { raw: isRaw = false, excel: isExcel = false, full = false, asOf, out, columns } = options;
      const format = chosenFormat(options);
      refuseConflicts(options, format);
      const startedMs = systemClock.monotonicMs();
      let rows = 0;
      const progress = createLine(io.stderr, () => {
        const rate = Math.round((rows * 1000) / Math.max(1, systemClock.monotonicMs() - startedMs));
        return `${what}  ${rows.toLocaleString('en-US')} rows  ${rate.toLocaleString('en-US')} rows/s`;
      });
      const onRows = (count: number): void => void (rows += count);
      const encoding = { format, isRaw, isExcel, onRows, signal: io.signal };
      try {
        const config = await context.keptSettings(options);
        const file = out === undefined ? null : outputFile(config.database.url, out);
        await using session = await openExistingMirror(config);
        const { timezone } = config.schedules;
        const ids = options.ids === undefined ? undefined : expandIds(options.ids);
        const headings = headingLanguage(format, full, config.language);
        const now = systemClock.now();
        const request = { what, asOf, ids, columns, now, timezone, isRaw, headings };
        const { source, remark } = await openExport(session, allKinds(config), request);
        const written =
          file === null ? null : { ...(await exportFile(source, file, encoding)), file, format };
        if (written === null) await writeTexts(io, exportTexts(source, encoding));
        progress.stop();
        if (remark !== null) printLine(io.stderr, remark);
        if (written === null) return;
        const lines = [`${written.file}: ${rowsAndSize(written)}.`];
        context.printResult(options, written, lines);
      } catch (error) {
        if (!(error instanceof ReaderGoneError)) throw error;
      } finally {
        progress.stop();
      }
    });
}

/** As other programs do, `--out -` names stdout: as CSV, unless another format is chosen. */
const withoutDash = ({ out, ...options }: Options): Options =>
  out === '-' ? { format: 'csv', ...options } : { ...options, ...(out !== undefined && { out }) };

/** @throws {UsageError} If neither an option nor the file's name shows the format. */
function chosenFormat(options: Options): ExportFormat {
  const chosen = options.format ?? formatOfFile(options.out ?? '') ?? (options.excel ? 'csv' : null);
  if (chosen !== null) return chosen;
  const { out } = options;
  throw exportError(
    out === undefined ? 'No format given.' : `The name ${out} shows no format.`,
    'Add --format csv, ndjson or xlsx, or end the name of --out in .csv, .ndjson or .xlsx.',
  );
}

/** @throws {UsageError} For a document and rows on the same output, and options that a format does not have. */
function refuseConflicts(options: Options, format: ExportFormat): void {
  if (options.json && options.out === undefined)
    throw exportError('--json needs --out, because the rows go to stdout.', 'Add --out FILE.');
  if (format === 'xlsx' && options.out === undefined)
    throw exportError('A workbook needs a file.', 'Add --out FILE.');
  if (options.raw && format !== 'csv')
    throw exportError('--raw is for CSV: other formats never change a text.', '');
  if (options.excel && format !== 'csv') throw exportError(`--excel is only for CSV, not for ${format}.`, '');
}

const exportError = (message: string, hint: string): UsageError =>
  new UsageError(message, { code: 'usage.export', hint });

/** The reader of stdout has gone: `bms-sync export clients --format csv | head`. */
class ReaderGoneError extends Error {
  override readonly name = 'ReaderGone';
}

/** Writes texts to stdout; each waits until the one before it is taken. */
async function writeTexts(io: Io, texts: AsyncIterable<string>): Promise<void> {
  for await (const text of texts)
    await new Promise<void>((resolve, reject) => {
      const isTaken = io.stdout.write(text, (error) => {
        if (error) reject(new ReaderGoneError(error.message));
        else resolve();
      });
      if (isTaken !== false) resolve();
    });
}
