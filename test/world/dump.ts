import { sql } from 'drizzle-orm';
import { columnType, type ListedKind } from '../../src/catalog/kind.ts';
import type { Queryable, Row } from '../../src/db/session/session.ts';

/** A row of the mirror, as a reader finds it. */
export interface MirrorRow {
  readonly id: string;
  readonly raw: string;
  readonly deletedAt: string | null;
  /** False where an answer alone has shown it. */
  readonly isListed: boolean;
  /** Its texts and decimals, as text. */
  readonly columns: ReadonlyMap<string, string | null>;
}

export interface ChangeRow {
  readonly seq: number;
  readonly kind: string;
  readonly id: string;
  readonly change: string;
  readonly observedFrom: string | null;
  readonly observedAt: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly fields: string;
  /** `service`, or `outbox:<id>` for our write. */
  readonly origin: string;
  readonly runId: number | null;
}

/** What is in the mirror at one moment. */
export interface Dump {
  readonly kinds: ReadonlyMap<string, KindDump>;
  readonly lastSeq: number;
}

export interface KindDump {
  readonly rows: ReadonlyMap<string, MirrorRow>;
  /** Null until records that are new to the mirror are new to the service too. */
  readonly baselineAt: string | null;
  readonly certifiedAt: string | null;
}

export async function dumpMirror(db: Queryable, kinds: readonly ListedKind[]): Promise<Dump> {
  const dumped = new Map<string, KindDump>();
  for (const kind of kinds) dumped.set(kind.name, await dumpKind(db, kind));
  const [last] = await db.query(sql`select max(seq) as seq from changes`);
  return { kinds: dumped, lastSeq: Number(last?.['seq'] ?? 0) };
}

async function dumpKind(db: Queryable, kind: ListedKind): Promise<KindDump> {
  const { name } = kind;
  const rows = await db.query(sql`select *, cast(id as text) as id from ${sql.identifier(name)}`);
  const [state] = await db.query(sql`select baseline_at, certified_at from kind_state where kind = ${name}`);
  return {
    rows: new Map(rows.map((row) => [String(row['id']), mirrorRow(kind, row)])),
    baselineAt: textOf(state?.['baseline_at']),
    certifiedAt: textOf(state?.['certified_at']),
  };
}

export async function dumpChanges(db: Queryable): Promise<readonly ChangeRow[]> {
  const rows = await db.query(sql`select * from changes order by seq`);
  return rows.map((row) => ({
    seq: Number(row['seq']),
    kind: String(row['kind']),
    id: String(row['record_id']),
    change: String(row['change']),
    observedFrom: textOf(row['observed_from']),
    observedAt: String(row['observed_at']),
    before: textOf(row['before']),
    after: textOf(row['after']),
    fields: String(row['fields']),
    origin: String(row['origin']),
    runId: row['run_id'] === null ? null : Number(row['run_id']),
  }));
}

function mirrorRow(kind: ListedKind, row: Row): MirrorRow {
  return {
    id: String(row['id']),
    raw: String(row['_raw']),
    deletedAt: textOf(row['_deleted_at']),
    isListed: row['_listed'] !== null,
    columns: new Map(watchedColumns(kind).map((column) => [column, textOf(row[column])])),
  };
}

const watchedColumns = ({ fields }: ListedKind): string[] =>
  fields.filter((field) => ['text', 'decimal'].includes(columnType(field))).map(({ name }) => name);

function textOf(value: Row[string] | undefined): string | null {
  return value === null || value === undefined ? null : String(value);
}
