import { Option, type Command } from 'commander';
import { openExistingMirror } from '../../../app/open-mirror.ts';
import { allKinds } from '../../../config/known-kinds.ts';
import { UsageError } from '../../../lib/sync-error.ts';
import { systemClock } from '../../../lib/time/clock.ts';
import { expandIds } from '../../../runs/extent.ts';
import { openExport } from '../export-source.ts';
import {
  FILE_FORMATS,
  exportFile,
  exportTexts,
  formatOfFile,
  headingLanguage,
  type ExportFormat,
} from '../export.ts';
import { outputFile } from '../../../db/output-file.ts';
import { createCommand, type CommonOptions, type CommandContext } from '../../../cli/parts/command.ts';
import { printLine, rowsAndSize, type Io } from '../../../cli/parts/io.ts';
import { showingProgress } from '../../../cli/parts/progress.ts';

interface Options extends CommonOptions {
  readonly format?: (typeof FILE_FORMATS)[number];
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
    .addOption(new Option('--format <format>', 'format (default: from the file name)').choices(FILE_FORMATS))
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
      const { raw: isRaw = false, full = false, asOf, out, columns } = options;
      const format = chosenFormat(options);
      refuseConflicts(options, format);
      const config = await context.keptSettings(options);
      const file = out === undefined ? null : outputFile(config.database.url, out);
      await using session = await openExistingMirror(config);
      const { timezone } = config.schedules;
      const ids = options.ids === undefined ? undefined : expandIds(options.ids);
      const headings = headingLanguage(format, full, config.language);
      const now = systemClock.now();
      const request = { what, asOf, ids, columns, now, timezone, isRaw, headings };
      const { source, remark } = await openExport(session, allKinds(config), request);
      const written = await showingProgress(io, {}, async ({ onProgress }) => {
        const onRows = (rows: number): void => {
          onProgress({ kind: what, rows, pages: 0, lastPage: null });
        };
        const encoding = {
          format: options.excel ? 'excel' : format,
          isRaw,
          onRows,
          signal: io.signal,
        } as const;
        if (file !== null) return { ...(await exportFile(source, file, encoding)), file, format };
        await writeTexts(io, exportTexts(source, encoding));
        return null;
      });
      if (remark !== null) printLine(io.stderr, remark);
      if (written !== null)
        context.printResult(options, written, [`${written.file}: ${rowsAndSize(written)}.`]);
    });
}

/** As other programs do, `--out -` names stdout: as CSV, unless another format is chosen. */
const withoutDash = ({ out, ...options }: Options): Options =>
  out === '-' ? { format: 'csv', ...options } : { ...options, ...(out !== undefined && { out }) };

/** @throws {UsageError} If neither an option nor the file's name shows the format. */
function chosenFormat(options: Options) {
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

/** Writes texts to stdout, each once the one before it is taken, until their reader has gone: `… --format csv | head`. */
async function writeTexts(io: Io, texts: AsyncIterable<string>): Promise<void> {
  for await (const text of texts) {
    const isRead = await new Promise<boolean>((resolve) => {
      const isTaken = io.stdout.write(text, (error) => {
        resolve(!error);
      });
      if (isTaken !== false) resolve(true);
    });
    if (!isRead) return;
  }
}
