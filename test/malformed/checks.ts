import { sql } from 'drizzle-orm';
import { decodeRecord } from '../../src/diff/decode-record.ts';
import { isObject, parseJson } from '../../src/lib/json.ts';
import { asMirrored } from '../../src/mirror/field-store.ts';
import type { Row, Session } from '../../src/mirror/session.ts';
import { canonical, readJson } from './json-reader.ts';
import type { Served } from './service.ts';

/** A row with what the checks need of it. */
export interface MirrorRow {
  readonly id: string;
  readonly raw: string;
  readonly isDeleted: boolean;
}

export async function rowsOf(session: Session, kind: string): Promise<MirrorRow[]> {
  return (await readRows(session, kind, [])).map((row) => ({
    id: String(row['id']),
    raw: String(row['_raw']),
    isDeleted: row['_deleted_at'] !== null,
  }));
}

/** Values as text: a number of JavaScript would not hold every integer. */
function readRows(session: Session, kind: string, columns: readonly string[]): Promise<Row[]> {
  const table = sql.identifier(kind);
  const own = sql`cast(id as text) as id, _raw, _deleted_at`;
  const texts = columns.map((name) => sql`cast(${sql.identifier(name)} as text) as ${sql.identifier(name)}`);
  return session.query(sql`select ${sql.join([own, ...texts], sql`, `)} from ${table} order by ${table}.id`);
}

/** Rows whose columns are not what their `_raw` says, or whose `_raw` is no record that the service ever sent. */
export async function corruptRows(
  session: Session,
  { kind }: Served,
  sent: ReadonlySet<string>,
): Promise<string[]> {
  const mirrored = await asMirrored(session, kind);
  const columns = mirrored.fields.map(({ name }) => name);
  const rows = await readRows(session, kind.name, columns.slice(1));
  const issues = await session.query(sql`
    select record_id, field, code from issues
    where kind = ${kind.name} and closed_at is null and field is not null`);
  const found: string[] = [];
  const misfits: string[] = [];
  for (const row of rows) {
    const [id, raw] = [String(row['id']), String(row['_raw'])];
    const node = readJson(raw);
    if (typeof node === 'string') found.push(`${kind.name} ${id}: _raw is ${node}`);
    else if (!sent.has(canonical(node))) found.push(`${kind.name} ${id}: nobody sent ${raw.slice(0, 300)}`);
    const parsed = parseJson(raw);
    const decoded = decodeRecord(mirrored, isObject(parsed) ? parsed : {});
    misfits.push(...decoded.misfits.map(({ field, code }) => [id, field, code].join(' ')));
    mirrored.fields.forEach(({ name }, at) => {
      const [held, fresh] = [row[name] ?? null, decoded.values[at] ?? null];
      if (String(held) !== String(fresh)) found.push(`${kind.name} ${id}: ${name} is ${held}, not ${fresh}`);
    });
  }
  const open = issues.map(({ record_id, field, code }) => [record_id, field, code].join(' '));
  if (open.sort().join() !== misfits.sort().join())
    found.push(`${kind.name}: open issues [${open.join()}], misfits [${misfits.join()}]`);
  return found;
}

/** Records that the service has and the mirror calls deleted. */
export async function falselyDeleted(session: Session, { name, records }: Served): Promise<string[]> {
  const events = await session.query(
    sql`select record_id from changes where kind = ${name} and change = 'deleted'`,
  );
  const rows = (await rowsOf(session, name)).filter(({ isDeleted }) => isDeleted);
  const deleted = [...events.map((event) => String(event['record_id'])), ...rows.map(({ id }) => id)];
  return deleted.filter((id) => records.has(id)).map((id) => `${name} ${id}: deleted, but it is there`);
}

/** Every text in the database that is not as it should be: one with the token in it, or one that no database keeps. */
export async function badTexts(session: Session, token: string): Promise<string[]> {
  const forms = [token, token.replaceAll('/', '\\/'), encodeURIComponent(token)];
  const found: string[] = [];
  const tables = await session.query(
    sql`select name from sqlite_master where type = 'table' and name not like 'sqlite%'`,
  );
  for (const name of tables.map((table) => String(table['name']))) {
    for (const row of await session.query(sql`select * from ${sql.identifier(name)}`)) {
      for (const [column, value] of Object.entries(row)) {
        if (typeof value !== 'string') continue;
        const shown = `${name}.${column}: ${JSON.stringify(value.slice(0, 200))}`;
        if (forms.some((form) => value.includes(form))) found.push(`token in ${shown}`);
        if (value.includes('\0')) found.push(`NUL in ${shown}`);
      }
    }
  }
  return found;
}

export async function integrityFaults(session: Session): Promise<string[]> {
  const rows = await session.query(sql`pragma integrity_check`);
  return rows.map((row) => String(Object.values(row)[0])).filter((word) => word !== 'ok');
}

/** Live rows that are not the service's records, or records that are no live rows. */
export async function unequal(session: Session, { name, records }: Served): Promise<string[]> {
  const live = (await rowsOf(session, name)).filter(({ isDeleted }) => !isDeleted);
  const held = new Map(live.map(({ id, raw }) => [id, canonicalText(raw)]));
  const missing = [...records]
    .filter(([id, text]) => held.get(id) !== canonicalText(text))
    .map(([id, text]) => `${name} ${id}: holds ${String(held.get(id))}, the service ${canonicalText(text)}`);
  const extra = [...held.keys()].filter((id) => !records.has(id)).map((id) => `${name} ${id}: is not there`);
  return [...missing, ...extra];
}

export function canonicalText(text: string): string {
  const node = readJson(text);
  return typeof node === 'string' ? node : canonical(node);
}
