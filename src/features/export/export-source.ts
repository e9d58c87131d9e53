import { sql, type SQL } from 'drizzle-orm';
import type { Kind } from '../../catalog/kind.ts';
import { writableField } from '../../diff/shown-value.ts';
import { UsageError } from '../../lib/sync-error.ts';
import { didYouMean } from '../../lib/text/nearest-name.ts';
import type { Language } from '../../lib/text/translator.ts';
import { asOfInstant } from '../../lib/time/as-of-instant.ts';
import { formatInstant } from '../../lib/time/clock.ts';
import { readKnownPast, type KnownPast } from '../../views/as-of.ts';
import { VERSION_COLUMN } from '../../store/records/record-version.ts';
import { idsIn } from '../../store/records/nested-rows.ts';
import { nestedTables } from '../../store/tables/kind-table.ts';
import type { Queryable, Session } from '../../db/session/session.ts';
import { OLD_CONTACTS } from '../../db/session/sql-text.ts';
import { readMirroredKind } from '../../store/kinds/field-store.ts';
import { columnHeadings, readDictionary } from '../../views/column-headings.ts';
import { readDeclaredColumns, readViewNames, type DeclaredColumn } from '../../views/views.ts';
import {
  exportColumns,
  readAsOf,
  readView,
  recordColumn,
  type ExportColumn,
  type ExportSource,
} from './read-rows.ts';

interface ExportRequest {
  /** A record kind or a view. */
  readonly what: string;
  /** An instant as a person writes it; undefined = now. */
  readonly asOf: string | undefined;
  /** Of these records only; undefined = of all. */
  readonly ids?: readonly string[] | undefined;
  /** Of `bi_changes`: only these events. */
  readonly events?: SQL | undefined;
  /** These columns in this order, `id,name`; undefined = all. */
  readonly columns?: string | undefined;
  readonly now: Date;
  /** Leaves out the version of each record, which corrections need: the columns are those of the view. */
  readonly isRaw?: boolean;
  /** The zone of an instant that names none. */
  readonly timezone: string;
  /** One column an amount, under headings in this language, as a workbook has them; undefined = the columns as they are. */
  readonly headings?: Language | undefined;
}

/**
 * Finds the rows of a kind or a view, as they are now or as they were at an instant; with a remark that a reader of the rows
 * should know, if there is one.
 *
 * @throws {UsageError} `usage.view` for an unknown name, `usage.columns` for unknown columns, `usage.export` for ids of a view without
 * records, `usage.as_of` for an instant whose state is not known.
 */
export async function openExport(session: Session, kinds: readonly Kind[], request: ExportRequest) {
  const { what, asOf, ids, now, timezone, isRaw = false } = request;
  const kindNames = kinds.map((kind) => kind.name);
  const name = kindNames.includes(what) ? `bi_${what}` : what;
  const declared = await readDeclaredColumns(session, name);
  if (declared.length === 0) {
    const names = [...kindNames, ...(await readViewNames(session))];
    throw new UsageError(`Unknown record kind or view "${what}"${didYouMean(what, names)}`, {
      code: 'usage.view',
      hint: `The kinds are: ${kindNames.join(', ')}. The views begin with bi_: docs/analysts.md.`,
    });
  }
  const kind = kindNames.find((kindName) => name === `bi_${kindName}`) ?? null;
  const { table, ...shown } = await readShownColumns(session, name, declared, isRaw ? null : kind);
  const { columns } = shown;
  checkRows(name, columns, request);
  if (asOf === undefined) {
    const batches = readView(session, { name, columns, table, where: rowsWhere(session, columns, request) });
    return { source: await showColumns(session, kinds, { ...shown, batches }, request), remark: null };
  }
  const { at, isZoned } = asOfInstant(asOf, now, timezone);
  const past = await findPast(session, kinds, name, at);
  if (past === null)
    throw new UsageError(`--as-of does not work with ${name}: the view has no history.`, {
      code: 'usage.as_of',
      hint: 'Use --as-of with a record kind, such as clients, or one of its lists, such as bi_clients_contacts.',
    });
  const batches = readAsOf(session, { ...past, ids }, columns);
  const zoneRemark = `As of ${formatInstant(at)} UTC: ${asOf} in ${timezone} (schedules.timezone).`;
  const remarks = [isZoned ? null : zoneRemark, past.partial].filter((remark) => remark !== null);
  const source = await showColumns(session, kinds, { ...shown, batches }, request);
  return { source, remark: remarks.join('\n') || null };
}

/** @throws {UsageError} `usage.export` for a choice of rows that the view does not have. */
function checkRows(name: string, columns: readonly ExportColumn[], { ids, events }: ExportRequest): void {
  const refuse = (message: string, hint: string): never => {
    throw new UsageError(message, { code: 'usage.export', hint });
  };
  if (ids !== undefined && recordColumn(columns) === undefined)
    refuse(
      `--ids does not work with ${name}: its rows belong to no records.`,
      'Use --ids with a record kind, such as clients, or one of its lists, such as bi_clients_contacts.',
    );
  if (events !== undefined && name !== 'bi_changes')
    refuse('kind, record, from and to choose events.', 'Use them with bi_changes.');
}

function rowsWhere(session: Session, columns: readonly ExportColumn[], { ids, events }: ExportRequest) {
  const record = sql.identifier(recordColumn(columns) ?? '');
  return events ?? (ids && sql`${record} in ${idsIn(session, ids)}`);
}

/** The wanted columns; those for people without the exact copies of amounts, with their headings, and those that can be edited. */
async function showColumns(
  db: Queryable,
  kinds: readonly Kind[],
  source: ExportSource,
  { columns: wanted, headings: language }: ExportRequest,
): Promise<ExportSource> {
  if (language === undefined) return pickColumns(source, wanted);
  const names = source.columns.map((column) => column.name);
  const copy = /_(?:exact|e4)$/; // Of an amount.
  const isCopy = (name: string): boolean => copy.test(name) && names.includes(name.replace(copy, ''));
  const lean = pickColumns(source, wanted ?? names.filter((name) => !isCopy(name)).join(','));
  const declared = kinds.find((kind) => source.name === `bi_${kind.name}` && kind.update !== null);
  const kind = declared && (await readMirroredKind(db, declared));
  const headings = columnHeadings(source.dictionary, language);
  const columns = lean.columns.map((column) => {
    const { name } = column;
    const isEditable = kind !== undefined && writableField(kind, name) !== undefined;
    return { ...column, heading: headings.get(name) ?? name, isEditable };
  });
  return { ...lean, columns };
}

/** @throws {UsageError} `usage.columns` for a column that there is not. */
function pickColumns(source: ExportSource, wanted?: string): ExportSource {
  if (wanted === undefined) return source;
  const known = source.columns.map((column) => column.name);
  const places = [...new Set(wanted.split(',').map((name) => name.trim()))].map((name) => {
    const place = known.indexOf(name);
    if (place >= 0) return place;
    const message = `Unknown column "${name}" of ${source.name}${didYouMean(name, known)}`;
    throw new UsageError(message, { code: 'usage.columns', hint: `The columns are: ${known.join(', ')}.` });
  });
  async function* picked() {
    for await (const batch of source.batches)
      yield batch.map((values) => places.map((place) => values[place] ?? null));
  }
  return { ...source, columns: places.flatMap((place) => source.columns[place] ?? []), batches: picked() };
}

/** Reads the columns that an export shows of a view; for the view of a kind, also the version of its records. */
async function readShownColumns(
  db: Queryable,
  name: string,
  declared: readonly DeclaredColumn[],
  kind: string | null,
) {
  const dictionary = await readDictionary(db, name);
  const times = new Set(dictionary.filter((row) => row['type'] === 'time').map((row) => row['column'])); // Texts in SQLite.
  const columns = exportColumns(declared).map((column) =>
    times.has(column.name) ? { ...column, type: 'time' as const } : column,
  );
  if (kind === null || columns.some((column) => column.name === VERSION_COLUMN))
    return { name, columns, dictionary, table: null };
  return { name, columns: [...columns, VERSION], dictionary, table: kind };
}

const VERSION: ExportColumn = { name: VERSION_COLUMN, type: 'text' };

/**
 * Finds the rows that a view of a kind, or of a nested array, had at an instant; null for any other view. `partial`: a remark
 * about an incompletely known list; null if the mirror knew the whole list.
 *
 * @throws {UsageError} `usage.as_of` if the state at that instant is not known.
 */
async function findPast(db: Queryable, kinds: readonly Kind[], view: string, at: Date) {
  const table = view === OLD_CONTACTS ? 'clients_contacts' : view.replace(/^bi_/, '');
  const instant = formatInstant(at);
  for (const declared of kinds.filter((kind) => table.startsWith(kind.name))) {
    const kind = await readMirroredKind(db, declared);
    const nested = nestedTables(kind).find((nestedTable) => nestedTable.name === table) ?? null;
    if (table !== kind.name && nested === null) continue;
    const past = await readKnownPast(db, kind.name, instant);
    const unknown = unknownReason(kind.name, at, past);
    if (unknown !== null)
      throw new UsageError(`The state of ${kind.name} at ${instant} UTC is not known: ${unknown}.`, {
        code: 'usage.as_of',
        hint: 'Name a later instant.',
      });
    return { kind, nested, instant, partial: partialReason(kind.name, at, past) };
  }
  return null;
}

/** Why the state at an instant is unknown; null if it is known. */
export function unknownReason(kind: string, instant: Date, past: KnownPast): string | null {
  const at = formatInstant(instant);
  const { firstSeenAt, forgottenBefore } = past;
  if (firstSeenAt === null) return `no record of ${kind} has been read yet`;
  if (at < firstSeenAt) return `the first record of ${kind} was read at ${firstSeenAt} UTC`;
  if (forgottenBefore !== null && at < forgottenBefore)
    return `change events before ${forgottenBefore} UTC were removed (retention.changesDays)`;
  return null;
}

/** A remark on a state that the mirror knew only in part at that instant; null where it knew the whole list. */
export function partialReason(kind: string, instant: Date, past: KnownPast): string | null {
  const { baselineAt } = past;
  if (baselineAt !== null && formatInstant(instant) >= baselineAt) return null;
  const since = baselineAt === null ? 'it still is not' : `it is since ${baselineAt} UTC`;
  return `The list of ${kind} was not known whole at that instant (${since}): records may be missing.`;
}
