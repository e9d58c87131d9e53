import { sql, type SQL } from 'drizzle-orm';
import type { Kind } from '../catalog/kind.ts';
import { OtherSourceError } from '../db/session/errors.ts';
import type { Queryable, Session, Transaction } from '../db/session/session.ts';
import { KIND_STATE } from '../store/tables/engine-tables.ts';
import { select } from '../db/rows/rows.ts';
import { readMeta, writeMeta } from '../store/kinds/meta.ts';

/** The source that a run reads. The mirror is bound to it when the first answer lands, so a mistyped address binds nothing. */
export interface SourceBinding {
  readonly baseUrl: string;
  /** The operator has declared a new source: facts from the old source no longer count. */
  readonly isNew: boolean;
  /** False while the mirror is not bound to this base URL. */
  isBound: boolean;
  /** The holders of tokens under which a list showed a company or a record that the mirror knows: they are the right ones. */
  readonly confirmed: Set<string>;
  /** By holder, the reading of kinds that name their company, to identify the token's company for the kinds that do not. */
  readonly companyReads: Map<string, Promise<void>>;
  /** The first list of this run that belonged to another company. */
  refusal: OtherSourceError | null;
}

/**
 * Compares a source with the one that the mirror is bound to.
 * @throws {OtherSourceError} If the mirror holds the data of another base URL and `acceptNew` is not set.
 */
export async function openSourceBinding(
  session: Session,
  baseUrl: string,
  acceptNew: boolean,
): Promise<SourceBinding> {
  const bound = await boundUrl(session);
  const unread = { confirmed: new Set<string>(), companyReads: new Map<string, Promise<void>>() };
  if (bound === null || bound === baseUrl || acceptNew)
    return { baseUrl, isNew: acceptNew, isBound: bound === baseUrl, ...unread, refusal: null };
  throw new OtherSourceError(`This mirror holds the data of ${bound}, and source.baseUrl is ${baseUrl}.`, {
    code: 'mirror.other_source',
    hint: `For the same service, set BMS_BASE_URL (source.baseUrl) to ${bound}. For another one, set DATABASE_URL to a separate mirror, or accept it for this mirror: --new-source.`,
  });
}

/** Binds the mirror to its source and a kind to its companies, within the transaction that lands an answer of the kind. */
export async function bindSource(tx: Transaction, binding: SourceBinding, companies: KindCompanies) {
  const { kind, ids, saved, isReset } = companies;
  const { baseUrl, isNew, isBound } = binding;
  const bound = isBound ? baseUrl : await boundUrl(tx);
  if (bound !== baseUrl) await writeMeta(tx, 'source.base_url', baseUrl);
  if (bound !== baseUrl && bound !== null) await resetLists(tx, sql`true`); // Another service's lists.
  if (isNew && !isReset) await resetLists(tx, sql`kind = ${kind}`);
  if ((!isNew || isReset) && ids.size <= saved) return;
  const systemIds = ids.size === 0 ? null : JSON.stringify([...ids]);
  await tx.query(sql`update kind_state set system_ids = ${systemIds} where kind = ${kind}`);
}

/** Forgets the sightings and certificates of lists; rows, events and tick counters stay. */
async function resetLists(tx: Transaction, which: SQL): Promise<void> {
  for (const table of ['sightings', 'pages', 'touched', 'deletions'])
    await tx.query(sql`delete from ${sql.identifier(table)} where ${which}`);
  await tx.query(sql`
    update kind_state set complete_sweeps = 0, certified_at = null, last_sweep_at = null, baseline_at = null, control_failures = 0,
      last_complete_sweep = null, uncertified_sweeps = 0, known_from = tick
    where ${which}`);
}

/** The base URL that the mirror is bound to; null before the first answer has landed. */
export async function boundUrl(db: Queryable): Promise<string | null> {
  return readMeta(db, 'source.base_url');
}

/** The companies (`system_id`) whose records one kind holds, as a sweep knows them; landing stores the new ones. */
export interface KindCompanies {
  readonly kind: string;
  /** Its records name their company. */
  readonly areNamed: boolean;
  readonly ids: Set<string>;
  /** How many of them the mirror remembers. */
  saved: number;
  /** True if the mirror knew no company when the sweep began: every company that the list names is then the kind's. */
  readonly isLearning: boolean;
  /** True once the facts of the kind's old source are forgotten, so that this happens only once. */
  isReset: boolean;
}

/** Whether a kind's records name their company. */
export function hasCompanyField(kind: Kind): boolean {
  return kind.fields.some(
    ({ name, type }) => name === 'system_id' && (type === 'integer' || type === 'text'),
  );
}

/** Reads the companies of a kind that the mirror remembers. */
export async function readCompanies(db: Queryable, kind: Kind, isNew: boolean): Promise<KindCompanies> {
  const { name } = kind;
  const [row] = isNew ? [] : await select(db, KIND_STATE, sql`where kind = ${name}`);
  const ids = new Set(idsIn(row?.systemIds ?? null));
  const known = { ids, saved: ids.size, isLearning: ids.size === 0, isReset: false };
  return { kind: name, areNamed: hasCompanyField(kind), ...known };
}

/** Every kind with the companies that the mirror remembers for it. */
export async function boundCompanies(db: Queryable): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await select(db, KIND_STATE, sql`where system_ids is not null order by kind`);
  return new Map(rows.map((row) => [row.kind, idsIn(row.systemIds)]));
}

const idsIn = (text: string | null): readonly string[] =>
  text === null ? [] : (JSON.parse(text) as string[]);
