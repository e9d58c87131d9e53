import { sql, type SQL } from 'drizzle-orm';
import { NOT_SHOWN, withoutExcluded } from '../../catalog/exclude.ts';
import { idColumnName, type Field, type Kind } from '../../catalog/kind.ts';
import { DECIMAL_SUFFIXES } from '../../catalog/reserved-names.ts';
import { compactJson, isObject, tryParseJson } from '../../lib/json/json.ts';
import { parseExclusions, type Exclusions } from '../kinds/exclusions.ts';
import { readAllowed } from '../kinds/field-store.ts';
import { systemClock } from '../../lib/time/clock.ts';
import { saveDrift } from '../kinds/drift-store.ts';
import { IS_QUARANTINED } from '../records/issue-store.ts';
import { deleteMeta, readMeta, writeMeta } from '../kinds/meta.ts';
import { removeAnswers, removeFromOutbox } from '../outbox/excluded-entries.ts';
import type { Session, Transaction } from '../../db/session/session.ts';
import { sqlList } from '../../db/session/sql-list.ts';
import { CHANGES } from '../tables/change-tables.ts';
import { DRIFT, FIELDS } from '../tables/engine-tables.ts';
import { SEARCH_COLUMN, isSearchField } from '../tables/search-text.ts';
import { nestedName } from '../tables/kind-table.ts';
import { pickColumns, readRows, select } from '../../db/rows/rows.ts';
import { batchesById, endOf, inSlices } from '../../db/rows/slices.ts';
import type { TableOwner } from '../records/table-owner.ts';
import type { RefillOptions } from './redecode.ts';

/**
 * Removes what the mirror holds of fields that `privacy.exclude` names since it was last applied: out of rows, events, issues,
 * nested tables, plans, notes of drift and deliveries; and, each time, out of entries of the outbox that have ended since. After an
 * interruption it starts over. Tombstones are cleaned like live rows. What a busy SQLite file still holds in free space or in
 * its log is tried again each time, whatever is excluded by then.
 * @returns `hasRemoved`: false if everything had been removed before; `isScrubbed`: whether a SQLite file is free of the removed
 * content; null if none was removed, and in PostgreSQL.
 */
export async function removeExcluded(
  session: Session,
  kinds: readonly Kind[],
  owners: readonly TableOwner[],
  { onProgress, now = systemClock.now() }: Partial<RefillOptions> = {},
) {
  const excluding = kinds.filter((kind) => kind.excluded !== undefined);
  const applied = await readMeta(session, 'privacy.excluded');
  const leftover = await readMeta(session, 'privacy.scrub');
  // What the mirror keeps out of kinds that the settings do not declare at present holds again once they do.
  const undeclared = [...parseExclusions(applied)].filter(([name]) =>
    kinds.every((kind) => kind.name !== name),
  );
  const all = [...excluding.map((kind) => [kind.name, namesOf(kind)]), ...undeclared];
  const wanted = all.length === 0 ? null : JSON.stringify(all);
  if ([wanted, applied, leftover].every((each) => each === null))
    return { hasRemoved: false, isScrubbed: null };
  const hasRemoved = wanted !== null && wanted !== applied;
  if (hasRemoved) await session.atomically((tx) => writeMeta(tx, 'privacy.excluding', wanted)); // Others land none of them from now on.
  for (const kind of hasRemoved ? excluding : [])
    await removeFromKind(session, kind, { before: parseExclusions(applied), owners, onProgress, now });
  for (const kind of excluding) await removeFromOutbox(session, kind);
  const isScrubbed = await scrub(session, hasRemoved, leftover);
  if (wanted !== applied)
    await session.atomically(async (tx) => {
      await noteAllowed(tx, parseExclusions(applied), parseExclusions(wanted));
      await writeMeta(tx, 'privacy.excluded', wanted);
      await deleteMeta(tx, 'privacy.excluding');
    });
  return { hasRemoved, isScrubbed };
}

/** Removes the excluded fields of a kind, and notes how many rows had them. */
async function removeFromKind(
  session: Session,
  kind: Kind,
  options: RefillOptions & { readonly before: Exclusions; readonly owners: readonly TableOwner[] },
): Promise<void> {
  const rows = await removeFromRows(session, kind, (rows) => options.onProgress?.({ kind: kind.name, rows }));
  await removeFromEvents(session, kind);
  const known = options.before.get(kind.name) ?? [];
  const field = namesOf(kind)
    .filter((name) => !known.includes(name))
    .join(', ');
  const note = {
    kind: kind.name,
    code: 'excluded_field',
    field,
    detail: `emptied in ${rows} ${rows === 1 ? 'row' : 'rows'}`,
  } as const;
  await session.atomically(async (tx) => {
    await removeFromOtherTables(tx, kind);
    for (const owner of options.owners) await owner.exclude(tx, kind);
    if (rows > 0) await saveDrift(tx, [note], options.now);
  });
}

/** Notes the fields that are kept out no longer: their first values are no changes. That they were emptied is past. */
async function noteAllowed(tx: Transaction, before: Exclusions, now: Exclusions): Promise<void> {
  for (const [kind, fields] of before) {
    const allowed = fields.filter((field) => now.get(kind)?.includes(field) !== true);
    const noted = await readAllowed(tx, kind);
    if (allowed.length === 0) continue;
    const emptied = sql`where kind = ${kind} and code = 'excluded_field'`;
    for (const { id, field } of await select(tx, pickColumns(DRIFT, 'id', 'field'), emptied)) {
      const left = (field ?? '').split(', ').filter((name) => !allowed.includes(name));
      if (left.length === 0) await tx.query(sql`delete from drift where id = ${id}`);
      else await tx.query(sql`update drift set field = ${left.join(', ')} where id = ${id}`);
    }
    await writeMeta(tx, `allowed.${kind}`, JSON.stringify([...new Set([...noted, ...allowed])]));
  }
}

/** Clears the file of content removed now or left by an earlier attempt; notes the step that is left to do. */
async function scrub(session: Session, hasRemoved: boolean, before: string | null): Promise<boolean | null> {
  if (session.dialect === 'postgres' || (!hasRemoved && before === null)) return null;
  const { scrubFile } = await import('../../db/sqlite/scrub.ts'); // PostgreSQL has no need of SQLite's driver.
  const remainingStep = scrubFile(
    session.location,
    !hasRemoved && before === 'checkpoint' ? 'checkpoint' : 'vacuum',
  );
  await session.atomically((tx) => writeMeta(tx, 'privacy.scrub', remainingStep));
  return remainingStep === null;
}

const ROWS_A_TRANSACTION = 1_000;

/** Returns how many rows had excluded fields. */
async function removeFromRows(session: Session, kind: Kind, onRows: (rows: number) => void): Promise<number> {
  const removeNext = (after: string) => session.atomically((tx) => removeFromBatch(tx, kind, after));
  let rows = 0;
  let emptied = 0;
  for await (const batch of batchesById(ROWS_A_TRANSACTION, removeNext)) {
    rows += batch.length;
    emptied += batch.filter(({ raw, cleaned }) => cleaned !== raw).length;
    onRows(rows);
  }
  return emptied;
}

async function removeFromBatch(tx: Transaction, kind: Kind, from: string) {
  const table = sql.identifier(kind.name);
  const next = sql`
    select cast(id as text) as id, _raw as raw from ${table} as k where k.id > ${from} order by k.id
    limit ${ROWS_A_TRANSACTION}`;
  const stored = await readRows(tx, { id: String, raw: String }, next);
  const rows = stored.map((row) => ({ ...row, cleaned: recordWithout(kind, row.raw) }));
  const last = rows.at(-1);
  if (last === undefined) return [];
  for (const { id, raw, cleaned } of rows)
    if (cleaned !== raw) await tx.write(sql`update ${table} set _raw = ${cleaned} where id = ${id}`);
  const columns = await columnsToClear(tx, kind);
  if (columns.length > 0) {
    const nulls = columns.map((column) => sql`${sql.identifier(column)} = null`);
    await tx.write(
      sql`update ${table} set ${sql.join(nulls, sql`, `)} where id > ${from} and id <= ${last.id}`,
    );
  }
  return rows;
}

/** The record's text without excluded fields; a text that is not a record is dropped, and read again by the next sweep. */
function recordWithout(kind: Kind, raw: string): string {
  const record = tryParseJson(raw);
  if (!isObject(record)) return '{}';
  const cleaned = withoutExcluded(kind, record);
  return cleaned === record ? raw : compactJson(cleaned);
}

/** The columns of excluded fields, those of decimals' twins, of texts that did not fit and of what is searched included. */
async function columnsToClear(tx: Transaction, kind: Kind): Promise<readonly string[]> {
  const names = namesOf(kind);
  const present = await tx.listColumns(kind.name);
  const texts = await select(
    tx,
    pickColumns(FIELDS, 'textColumn'),
    sql`where kind = ${kind.name} and field in (${sqlList(names)})`,
  );
  const taken = new Set(kind.fields.map(({ name }) => name));
  return [
    ...names.flatMap((name) => [name, ...DECIMAL_SUFFIXES.map((suffix) => name + suffix)]),
    ...(kind.excluded ?? []).flatMap(({ name, recordOf }) =>
      recordOf === undefined ? [] : [idColumnName(name)],
    ),
    ...texts.map((row) => row.textColumn ?? ''),
    ...((kind.excluded ?? []).some(isSearchField) ? [SEARCH_COLUMN] : []), // It is filled again without them.
  ].filter((name) => present.has(name) && !taken.has(name));
}

const namesOf = ({ excluded = [] }: Kind): readonly string[] => excluded.map(({ name }: Field) => name);

const EVENT = pickColumns(CHANGES, 'seq', 'before', 'after', 'fields');

async function removeFromEvents(session: Session, kind: Kind): Promise<void> {
  const removeNext = (from: number) =>
    session.atomically(async (tx) => {
      const next = sql`where kind = ${kind.name} and seq > ${from} order by seq limit ${ROWS_A_TRANSACTION}`;
      const events = await select(tx, EVENT, next);
      for (const { seq, ...event } of events) {
        const without = (record: string | null): string | null => record && recordWithout(kind, record);
        const [before, later, fields] = [event.before, event.after, event.fields].map(without);
        if (before !== event.before || later !== event.after || fields !== event.fields)
          await tx.write(sql`
            update changes set before = ${before}, after = ${later}, fields = ${fields} where seq = ${seq}`);
      }
      return events;
    });
  await endOf(inSlices(ROWS_A_TRANSACTION, removeNext, 0, (event) => event.seq));
}

/** Elements of arrays, issues, notes of drift, and the pages: a page counts as landed only while its rows equal it. */
async function removeFromOtherTables(tx: Transaction, kind: Kind): Promise<void> {
  const { name } = kind;
  await tx.query(sql`delete from pages where kind = ${name}`);
  for (const field of namesOf(kind)) {
    const elements = nestedName(name, field);
    if ((await tx.listColumns(elements)).has('parent_id'))
      await tx.query(sql`delete from ${sql.identifier(elements)}`);
    const about: SQL = sql`kind = ${name} and (field = ${field} or substr(field, 1, ${field.length + 1}) = ${`${field}[`})`;
    await tx.query(sql`delete from issues where ${about}`);
    await tx.query(
      sql`delete from drift where kind = ${name} and field = ${field} and code <> 'excluded_field'`,
    );
  }
  // The quoted beginning of a record may end in the middle of a value. The next sweep quotes it anew.
  await tx.query(sql`update issues set detail = ${NOT_SHOWN} where kind = ${name} and ${IS_QUARANTINED}`);
  await removeAnswers(tx, kind);
  // Earlier releases quoted the beginning of an answer that could not be read.
  await tx.query(
    sql`update run_kinds set detail = null where kind = ${name} and state in ('invalid', 'aborted')`,
  );
}
