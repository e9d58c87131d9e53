import { sql } from 'drizzle-orm';
import type { Kind } from '../../src/catalog/kind.ts';
import { listChangedFields } from '../../src/diff/compare-page.ts';
import { createRecordDecoder } from '../../src/diff/decode-record.ts';
import { isObject, arrayItems, parseJson, type Json } from '../../src/lib/json/json.ts';
import { readMirroredKind } from '../../src/store/kinds/field-store.ts';
import type { Row, Session, SqlValue } from '../../src/db/session/session.ts';
import { nestedTables } from '../../src/store/tables/kind-table.ts';
import { canonical, readJson } from './json-reader.ts';
import { textsOf, type Served } from './true-answers.ts';

/** A row with what the checks need of it. */
export interface MirrorRow {
  readonly id: string;
  readonly raw: string;
  readonly isDeleted: boolean;
}

export async function rowsOf(session: Session, kind: string): Promise<MirrorRow[]> {
  return (await readRows(session, kind, [])).map(mirrorRow);
}

const mirrorRow = (row: Row): MirrorRow => ({
  id: String(row['id']),
  raw: String(row['_raw']),
  isDeleted: row['_deleted_at'] !== null,
});

/** Values as text: a number of JavaScript would not hold every integer. */
function readRows(session: Session, kind: string, columns: readonly string[]): Promise<Row[]> {
  const table = sql.identifier(kind);
  const own = sql`cast(id as text) as id, _raw, _deleted_at`;
  const texts = columns.map((name) => sql`cast(${sql.identifier(name)} as text) as ${sql.identifier(name)}`);
  return session.query(sql`select ${sql.join([own, ...texts], sql`, `)} from ${table} order by ${table}.id`);
}

/** What the mirror holds of a kind after a pull. */
export interface HeldKind {
  /** With the columns that were discovered. */
  readonly kind: Kind;
  readonly rows: readonly Row[];
  readonly issues: readonly Row[];
}

export async function readHeld(session: Session, { kind }: Served): Promise<HeldKind> {
  const mirrored = await readMirroredKind(session, kind);
  const columns = mirrored.fields.map(({ name }) => name).filter((name) => name !== 'id');
  const rows = await readRows(session, kind.name, columns);
  const issues = await session.query(
    sql`select record_id, field, code, closed_at from issues where kind = ${kind.name}`,
  );
  return { kind: mirrored, rows, issues };
}

/** Rows whose columns are not what their `_raw` says, or whose `_raw` is not a record that the service ever sent. */
export function corruptRows({ kind, rows, issues }: HeldKind, sent: ReadonlySet<string>): string[] {
  const found: string[] = [];
  const misfits: string[] = [];
  const live = new Set<string>();
  for (const row of rows) {
    const { id, raw, isDeleted } = mirrorRow(row);
    if (!sent.has(canonicalText(raw))) found.push(`${kind.name} ${id}: nobody sent ${raw.slice(0, 300)}`);
    const parsed = parseJson(raw);
    const decoded = createRecordDecoder(kind)(isObject(parsed) ? parsed : {});
    if (!isDeleted) live.add(id);
    if (!isDeleted)
      for (const { field, code } of [...decoded.misfits, ...nestedMisfits(kind, parsed)])
        misfits.push([id, field, code].join(' '));
    kind.fields.forEach(({ name }, at) => {
      const held = row[name] ?? null;
      const fresh = decoded.values[at] ?? null;
      if (String(held) !== String(fresh)) found.push(`${kind.name} ${id}: ${name} is ${held}, not ${fresh}`);
    });
  }
  const ofFields = issues.filter(({ field, closed_at }) => field !== null && closed_at === null);
  const ofLive = ofFields.filter(({ record_id }) => live.has(String(record_id)));
  const open = ofLive.map(({ record_id, field, code }) => [record_id, field, code].join(' '));
  if (open.sort().join() !== misfits.sort().join())
    found.push(`${kind.name}: open issues [${open.join()}], misfits [${misfits.join()}]`);
  return found;
}

/** The misfits within a record's nested arrays, as the documentation of their tables has them. */
function nestedMisfits(kind: Kind, record: Json): { readonly field: string; readonly code: string }[] {
  return nestedTables(kind).flatMap(({ array, own, items }) => {
    const sent = isObject(record) && Object.hasOwn(record, array) ? record[array] : undefined;
    const keepsValue = own.length > 2;
    const elements = isObject(sent) && 'id' in sent ? [sent] : arrayItems(sent);
    if (elements === null) {
      const isOther = !keepsValue && sent !== undefined && sent !== null && sent !== '';
      return isOther ? [{ field: array, code: 'not_an_array' }] : [];
    }
    const decode = createRecordDecoder({ ...kind, fields: items });
    return elements.flatMap((element, at) => {
      const place = `${array}[${at}]`;
      if (isObject(element) || keepsValue)
        return decode(isObject(element) ? element : {}).misfits.map(({ field, code }) => ({
          field: `${place}.${field}`,
          code,
        }));
      return element === null ? [] : [{ field: place, code: 'not_an_object' }];
    });
  });
}

/** Records that the service has and the mirror calls deleted. */
export function falselyDeleted({ rows }: HeldKind, served: Served): string[] {
  const records = textsOf(served);
  const deleted = rows.map(mirrorRow).filter(({ id, isDeleted }) => isDeleted && records.has(id));
  return deleted.map(({ id }) => `${served.name} ${id}: deleted, but it is there`);
}

/** Events that say that a record is gone which the service has. */
export async function falseEvents(session: Session, served: Served): Promise<string[]> {
  const { name } = served;
  const records = textsOf(served);
  const events = await session.query(
    sql`select record_id from changes where kind = ${name} and change = 'deleted'`,
  );
  const wrong = events.map((event) => String(event['record_id'])).filter((id) => records.has(id));
  return wrong.map((id) => `${name} ${id}: a deleted event, but it is there`);
}

/** Every text in the database that is not as it should be: one with the token in it, or one that no database keeps. */
export async function badTexts(session: Session, token: string): Promise<string[]> {
  const forms = [token, token.replaceAll('/', '\\/'), encodeURIComponent(token)];
  const tables = await session.query(
    sql`select name from sqlite_master where type = 'table' and name not like 'sqlite%'`,
  );
  const found: string[] = [];
  for (const name of tables.map((table) => String(table['name']))) {
    const rows = await session.query(sql`select * from ${sql.identifier(name)}`);
    const texts = rows.flatMap((row) => Object.entries(row)).filter(isText);
    for (const [column, text] of texts) {
      const shown = `${name}.${column}: ${JSON.stringify(text.slice(0, 200))}`;
      if (forms.some((form) => text.includes(form))) found.push(`token in ${shown}`);
      if (text.includes('\0')) found.push(`NUL, which PostgreSQL refuses, in ${shown}`);
    }
  }
  return found;
}

const isText = (cell: [string, SqlValue]): cell is [string, string] => typeof cell[1] === 'string';

export async function integrityFaults(session: Session): Promise<string[]> {
  const rows = await session.query(sql`pragma integrity_check`);
  return rows.map((row) => String(Object.values(row)[0])).filter((word) => word !== 'ok');
}

/** Live rows that are not the service's records, or records that are not live rows. */
export async function unequal(session: Session, served: Served): Promise<string[]> {
  const { name, kind } = served;
  const records = textsOf(served);
  const live = (await rowsOf(session, name)).filter(({ isDeleted }) => !isDeleted);
  const held = new Map(live.map(({ id, raw }) => [id, canonicalText(raw)]));
  const missing = [...records]
    .filter(([id, text]) => held.get(id) !== canonicalText(text) && !isSameRecord(kind, held.get(id), text))
    .map(([id, text]) => `${name} ${id}: holds ${String(held.get(id))}, the service ${canonicalText(text)}`);
  const extra = [...held.keys()].filter((id) => !records.has(id)).map((id) => `${name} ${id}: is not there`);
  return [...missing, ...extra];
}

/** Equal by the types of the fields: a row keeps the spelling that came first. */
function isSameRecord(kind: Kind, held: string | undefined, sent: string): boolean {
  const [a, b] = [held, sent].map((text) => (text === undefined ? null : parseJson(text)));
  return isObject(a) && isObject(b) && listChangedFields(kind, a, b).length === 0;
}

export function canonicalText(text: string): string {
  const node = readJson(text);
  return typeof node === 'string' ? node : canonical(node);
}
