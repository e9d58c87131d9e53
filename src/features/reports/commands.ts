import type { Command } from 'commander';
import { openExistingMirror } from '../../app/open-mirror.ts';
import { UsageError } from '../../lib/sync-error.ts';
import { exportFile, formatOfFile } from '../export/export.ts';
import { outputFile } from '../../db/output-file.ts';
import { reportSource } from './report-source.ts';
import { listReports, runReport, type ReportAnswer } from './run-report.ts';
import { readViewNames } from '../../views/views.ts';
import { createCommand, type CommandContext, type CommonOptions } from '../../cli/parts/command.ts';
import { rowsAndSize, textTable, type Printed } from '../../cli/parts/io.ts';

interface Options extends CommonOptions {
  readonly from?: string;
  readonly to?: string;
  readonly out?: string;
}

export function reportCommand(context: CommandContext): Command {
  return createCommand('report')
    .option('--from <day>', 'only from this day on: 2026-03-01')
    .option('--to <day>', 'only up to this day')
    .option('--out <file>', 'write its rows to this file: .xlsx, .csv or .ndjson')
    .argument('[name]', 'report')
    .action(async (name: string | undefined, options: Options) => {
      const config = await context.keptSettings(options);
      const { from, to, out } = options;
      const format = formatOfFile(out ?? '');
      if (out !== undefined && format === null)
        throw new UsageError(`The name ${out} shows no format.`, NO_FORMAT);
      const file = out === undefined ? '' : outputFile(config.database.url, out);
      await using session = await openExistingMirror(config);
      const views = await readViewNames(session);
      if (name === undefined) {
        const reports = listReports(views, 'en');
        const rows = reports.map((report) => [report.name, report.missing ?? report.question]);
        context.printResult(options, { reports }, textTable(['report', 'question'], rows));
        return;
      }
      const answer = await runReport(session, views, { name, from, to, language: 'en' });
      if (format === null) {
        context.printResult(options, answer, reportTexts(answer));
        return;
      }
      const { signal } = context.io;
      const written = await exportFile(reportSource(answer, format === 'xlsx'), file, { format, signal });
      const texts = [`${file}: ${rowsAndSize(written)}.`, ...standing(answer)];
      context.printResult(options, { ...answer, ...written, file }, texts);
    });
}

const NO_FORMAT = { code: 'usage.report', hint: 'End the name of --out in .xlsx, .csv or .ndjson.' };

function* reportTexts(answer: ReportAnswer): Iterable<Printed> {
  yield `${answer.title}. ${answer.question}`;
  yield textTable(answer.columns, answer.rows);
  yield* standing(answer);
  for (const note of answer.notes) yield `Note: ${note}`;
}

/** What must be known beside the rows. */
function* standing({ totals, partial, remarks }: ReportAnswer): Iterable<string> {
  for (const { company, currency, ...sums } of totals) {
    const apart = Object.entries({ company, currency }).filter(([, key]) => key !== undefined);
    const of = apart.map(([name, key]) => `${name} ${key ?? 'none'}`).join(', ');
    const texts = Object.entries(sums).map(([column, sum]) => `${column} ${sum ?? 'unknown'}`);
    yield `Total${of === '' ? '' : ` of ${of}`}: ${texts.join(', ')}`;
  }
  if (partial.length > 0) yield `In part: ${partial.join(', ')}`;
  yield* remarks;
}
