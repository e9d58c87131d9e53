import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { didYouMean } from '../../lib/text/nearest-name.ts';
import { allKinds } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { UsageError } from '../../lib/sync-error.ts';
import { instantText, systemClock } from '../../lib/time/clock.ts';
import { asMirrored } from '../../mirror/kinds/field-store.ts';
import { readKnownPast } from '../../mirror/records/as-of.ts';
import type { Session } from '../../mirror/session/session.ts';
import { readDeclaredColumns, readViewNames } from '../../mirror/views/view-columns.ts';
import { asOfInstant, whyPartial, whyUnknown } from '../../report/export/as-of-instant.ts';
import { exportColumns } from '../../report/export/columns.ts';
import { exportFile, exportText } from '../../report/export/export.ts';
import type { ExportFormat, ExportOptions } from '../../report/export/export.ts';
import { readAsOf, readView } from '../../report/export/read-rows.ts';
import type { ExportSource, ViewToRead } from '../../report/export/read-rows.ts';
import { openExistingMirror } from '../open-mirror.ts';
import { outputFault, outputFile } from '../output-file.ts';

export { EXPORT_FORMATS, ExportStopped } from '../../report/export/export.ts';
export type { ExportFormat } from '../../report/export/export.ts';

export interface ExportRequest extends ExportOptions {
  /** A record kind, or a view. */
  readonly what: string;
  /** As a person writes it; undefined = now. */
  readonly asOf: string | undefined;
  /** The file to write; undefined = stdout. */
  readonly out: string | undefined;
}

/** The place of an export without a file. */
export interface ExportOutput {
  readonly text: (text: string) => Promise<void>;
  readonly bytes: (bytes: Uint8Array) => Promise<void>;
}

/** The document of `export --out --json`. */
export interface ExportReport {
  readonly rows: number;
  readonly bytes: number;
  readonly file: string;
  readonly format: ExportFormat;
}

export interface ExportOutcome {
  /** Null where the rows went to stdout. */
  readonly report: ExportReport | null;
  readonly rows: number;
  /** What a reader of the rows should know. */
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
  const { source, remark } = await openSource(config, session, request);
  const remarks = remark === null ? [] : [remark];
  if (path === null) {
    const { rows, unfit } = await toStdout(source, request, output);
    return { report: null, rows, remarks: [...remarks, ...unfitRemarks(unfit)] };
  }
  try {
    const { rows, bytes, unfit } = await exportFile(source, path, request);
    return {
      report: { rows, bytes, file: path, format },
      rows,
      remarks: [...remarks, ...unfitRemarks(unfit)],
    };
  } catch (error) {
    throw outputFault(error, path);
  }
}

type Unfit = Awaited<ReturnType<typeof exportText>>['unfit'];

const unfitRemarks = (unfit: Unfit): readonly string[] =>
  [...unfit].map(
    ([column, count]) =>
      `${count} values of ${column} fit no column of Parquet and are null: CSV and NDJSON have them.`,
  );

/** Parquet is written to a file first, because DuckDB needs one. */
async function toStdout(
  source: ExportSource,
  request: ExportRequest,
  output: ExportOutput,
): Promise<{ readonly rows: number; readonly unfit: Unfit }> {
  if (request.format !== 'parquet') return exportText(source, output.text, request);
  const folder = await mkdtemp(join(tmpdir(), 'bms-sync-export-'));
  try {
    const path = join(folder, 'rows.parquet');
    const exported = await exportFile(source, path, request);
    for await (const bytes of createReadStream(path)) await output.bytes(bytes as Uint8Array);
    return exported;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface OpenedSource {
  readonly source: ExportSource;
  readonly remark: string | null;
}

async function openSource(
  config: Config,
  session: Session,
  { what, asOf }: ExportRequest,
): Promise<OpenedSource> {
  const view = await findView(config, session, what);
  if (asOf !== undefined) return openPast(config, session, { view, asOf });
  return { source: { columns: view.columns, batches: readView(session, view) }, remark: null };
}

/** @throws {UsageError} For a name that is neither a kind's nor a view's. */
async function findView(config: Config, session: Session, what: string): Promise<ViewToRead> {
  const kinds = allKinds(config).map(({ name }) => name);
  const name = kinds.includes(what) ? `bi_${what}` : what;
  const declared = await readDeclaredColumns(session, name);
  if (declared.length > 0) return { name, columns: exportColumns(declared) };
  const views = await readViewNames(session);
  throw new UsageError(`There is no record kind or view "${what}"${didYouMean(what, [...kinds, ...views])}`, {
    code: 'usage.view',
    hint: `The kinds are: ${kinds.join(', ')}. The views begin with bi_: docs/analysts.md.`,
  });
}

/** @throws {UsageError} For a view that is no kind's, and for an instant whose state is not known. */
async function openPast(
  config: Config,
  session: Session,
  { view: { name, columns }, asOf }: { readonly view: ViewToRead; readonly asOf: string },
): Promise<OpenedSource> {
  const kind = allKinds(config).find((candidate) => `bi_${candidate.name}` === name);
  if (kind === undefined)
    throw new UsageError(
      `The state of ${name} at an instant is not known: it is no record kind's own view.`,
      {
        code: 'usage.as_of',
        hint: 'Take --as-of with a record kind, such as clients.',
      },
    );
  const at = asOfInstant(asOf, systemClock.now());
  const past = await readKnownPast(session, kind.name);
  const reason = whyUnknown(kind.name, at, past);
  if (reason !== null)
    throw new UsageError(`The state of ${kind.name} at ${instantText(at)} UTC is not known: ${reason}.`, {
      code: 'usage.as_of',
      hint: 'Name a later instant.',
    });
  const mirrored = await asMirrored(session, kind);
  const batches = readAsOf(session, { kind: mirrored, columns, instant: instantText(at) });
  return { source: { columns, batches }, remark: whyPartial(kind.name, at, past) };
}
