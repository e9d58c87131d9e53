import { allKinds } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { openExport } from '../../report/export/export-source.ts';
import type { ExportWish } from '../../report/export/export-source.ts';
import { exportFile, exportStream, unfitRemarks } from '../../report/export/export.ts';
import type { ExportFormat, ExportOptions, ExportOutput } from '../../report/export/export.ts';
import { outputFault, outputFile } from '../../report/output-file.ts';
import { openExistingMirror } from '../open-mirror.ts';

export { EXPORT_FORMATS, ExportStopped } from '../../report/export/export.ts';
export type { ExportFormat, ExportOutput } from '../../report/export/export.ts';

interface ExportRequest extends ExportOptions, ExportWish {
  /** The file to write; undefined = stdout. */
  readonly out: string | undefined;
}

/** The document of `export --out --json`. */
interface ExportReport {
  readonly rows: number;
  readonly bytes: number;
  readonly file: string;
  readonly format: ExportFormat;
}

interface ExportOutcome {
  /** Null where the rows went to stdout. */
  readonly report: ExportReport | null;
  readonly rows: number;
  /** Facts that a reader of the rows should know. */
  readonly remarks: readonly string[];
}

/**
 * Exports the rows of a kind or a view.
 *
 * @throws {UsageError} For an unknown name, an instant whose state is not known, or a file that cannot be written.
 * @throws {ExportStopped} If the signal fires first.
 */
export async function exportRows(
  config: Config,
  request: ExportRequest,
  output: ExportOutput,
): Promise<ExportOutcome> {
  const { out, format } = request;
  const path = out === undefined ? null : outputFile(config, out);
  await using session = await openExistingMirror(config);
  const wish = { ...request, now: systemClock.now() };
  const { source, remark } = await openExport(session, allKinds(config), wish);
  const remarks = remark === null ? [] : [remark];
  if (path === null) {
    const { rows, unfit } = await exportStream(source, output, request);
    return { report: null, rows, remarks: [...remarks, ...unfitRemarks(unfit)] };
  }
  try {
    const { rows, bytes, unfit } = await exportFile(source, path, request);
    const report = { rows, bytes, file: path, format };
    return { report, rows, remarks: [...remarks, ...unfitRemarks(unfit)] };
  } catch (error) {
    throw outputFault(error, path);
  }
}
