import { LISTED_KINDS } from '../../catalog/kinds/catalog.ts';
import type { Kind, ListedKind } from '../../catalog/kind.ts';
import { recordId } from '../../diff/judge-page.ts';
import { isNumber, isObject, type Json } from '../../lib/json/json.ts';
import { OtherSourceError } from '../../db/session/errors.ts';
import {
  namesCompany,
  readTenants,
  type SourceClaim,
  type KindTenants,
} from '../../store/kinds/source-binding.ts';
import { hasMoreLive } from '../../store/kinds/status-store.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { ListResponse } from '../../source/paging/list-responses.ts';
import type { PullParts } from '../run/parts.ts';
import type { Session } from '../../db/session/session.ts';

/** The companies that a kind's records may name. */
interface CompaniesOfKind {
  readonly kind: Kind;
  readonly tenants: KindTenants;
}

/** The facts that show which company the records of a kind belong to. */
export interface TenantGuard extends CompaniesOfKind {
  readonly parts: Pick<PullParts, 'session' | 'source' | 'signal'>;
  readonly claim: SourceClaim;
}

/** This few rows may all have been replaced; if there are more, a list that shares none of them is another company's. */
const ROWS_THAT_IDENTIFY = 20;
/** If the first page, the last page and this many more share no row with the mirror, the rest will share none either. */
const PAGES_HELD_BACK = 50;

/**
 * Passes the responses of a list on once they are known to belong to a company of this mirror, so that nothing foreign
 * lands.
 *
 * Most records of a response must name one of the kind's companies. If the kind has enough rows, one record must also
 * be known. A list that shows neither passes if another list of the same token does.
 *
 * @throws {OtherSourceError} Before any record of the foreign list has landed.
 */
export async function* requireTenant(
  responses: AsyncIterable<ListResponse>,
  guard: TenantGuard,
): AsyncGenerator<ListResponse> {
  const { claim, kind, parts } = guard;
  let isRecognized = claim.isNew || !(await hasMoreLive(parts.session, kind.name, ROWS_THAT_IDENTIFY));
  let held: ListResponse[] = [];
  for await (const response of responses) {
    const namesOwn = requireCompany(guard, response);
    const showsKnown = !isRecognized && (await isKnown(guard, response));
    held.push(response);
    isRecognized ||= showsKnown;
    if (isRecognized) {
      claim.isConfirmed ||= namesOwn || showsKnown;
      await verifyTenant(parts, claim);
      yield* held;
      held = [];
    } else if (held.length > PAGES_HELD_BACK) break;
  }
  if (held.length === 0) return;
  const shown = held.reduce((sum, response) => sum + idsOf(response.read()).length, 0);
  if (shown > 0)
    throw otherCompany(
      `The list of ${kind.name} shows ${shown} ids, and this mirror knows none of them, though it has more than ${ROWS_THAT_IDENTIFY} live rows: it is another company's.`,
    );
  await verifyTenant(parts, claim);
  yield* held; // An emptied list, or one whose records lost their ids, is a reading like any other.
}

/** Passes responses whose records name the kind's companies, if any; whether the mirror knows the records does not matter. */
export async function* requireCompanies(
  responses: AsyncIterable<ListResponse>,
  guard: CompaniesOfKind,
): AsyncGenerator<ListResponse> {
  for await (const response of responses) {
    requireCompany(guard, response);
    yield response;
  }
}

/**
 * Verifies the company for a list that does not name it: by other lists of this run, else by the first page of a kind
 * that names its company. If the token may read none of those, the question stays open.
 *
 * @throws {OtherSourceError}
 */
export async function verifyTenant(parts: TenantGuard['parts'], claim: SourceClaim): Promise<void> {
  if (claim.isNew || claim.isConfirmed) return;
  if (!claim.isAsked) {
    const isShort = (kind: Kind): number => Number(kind.name === 'departments');
    for (const kind of LISTED_KINDS.filter(namesCompany).toSorted((a, b) => isShort(b) - isShort(a))) {
      const tenants = await readTenants(parts.session, kind, false);
      if (tenants.isLearning || !(await isOurs({ parts, kind, claim, tenants }))) continue;
      claim.isConfirmed = true;
      return;
    }
    claim.isAsked = true;
  }
  if (claim.refusal !== null) throw claim.refusal;
}

/** Whether the first page of a kind names a company of the mirror. */
async function isOurs(guard: TenantGuard & { readonly kind: ListedKind }): Promise<boolean> {
  const { source, signal } = guard.parts;
  try {
    const pages = source.pages(guard.kind, { from: 1, to: 1 }, { tick: () => 0, signal });
    for await (const response of pages) if (requireCompany(guard, response)) return true;
    return false;
  } catch (error) {
    if (error instanceof OtherSourceError) guard.claim.refusal ??= error;
    else if (!(error instanceof SourceError)) throw error;
    return false;
  }
}

async function isKnown(guard: TenantGuard, response: ListResponse): Promise<boolean> {
  if (response.isKnown) return true; // Records shown before belong to the same company.
  const ids = idsOf(response.read());
  const known = await guard.parts.session.atomically((tx) => tx.rowsById(guard.kind.name, ['id'], ids));
  return known.size > 0;
}

function idsOf(records: readonly Json[]): string[] {
  return records.map(recordId).flatMap((identity) => ('id' in identity ? [identity.id] : []));
}

/** Puts kinds whose lists name the company first: their answers decide for the others. */
export async function tellingFirst(session: Session, kinds: readonly ListedKind[]): Promise<ListedKind[]> {
  const places: ListedKind[][] = [[], [], [], []];
  for (const kind of kinds) {
    const isNamed = namesCompany(kind);
    let place = isNamed ? 2 : 3;
    if (isNamed && !(await readTenants(session, kind, false)).isLearning) place = 0;
    else if (await hasMoreLive(session, kind.name, ROWS_THAT_IDENTIFY)) place = 1;
    places[place]?.push(kind);
  }
  return places.flat();
}

/**
 * Refuses a response that mostly names other companies than the kind's. While no company is known, those that it names
 * are learned.
 *
 * @returns Whether it names a known company.
 * @throws {OtherSourceError}
 */
export function requireCompany(
  companiesOfKind: CompaniesOfKind,
  { isKnown: isSame, read }: { readonly isKnown: boolean; readonly read: () => readonly Json[] },
): boolean {
  const { kind, tenants } = companiesOfKind;
  if (!namesCompany(kind)) return false;
  if (isSame) return true;
  if (tenants.isLearning) {
    for (const company of companiesOf(read())) tenants.companies.add(company);
    return false;
  }
  const named = countCompanies(read(), tenants.companies);
  const judgement = judgeCompany(named);
  if (judgement === 'other') {
    const listed = (ids: Iterable<string>): string => [...ids].slice(0, NAMED).join(', ');
    throw otherCompany(
      `The list of ${kind.name}: the token reads company ${listed(named.others.keys())} (system_id), and this mirror holds company ${listed(tenants.companies)}.`,
    );
  }
  return judgement === 'own';
}

const NAMED = 3;

function otherCompany(message: string): OtherSourceError {
  const hint =
    'Use the token of the right company, or set DATABASE_URL to a mirror of its own; --new-source accepts the change.';
  return new OtherSourceError(message, { code: 'mirror.other_source', hint });
}

/** The companies (`system_id`) that records name: the known ones and the others, each with its number of records. */
interface NamedCompanies {
  readonly own: number;
  readonly others: ReadonlyMap<string, number>;
}

export function countCompanies(records: readonly Json[], known: ReadonlySet<string>): NamedCompanies {
  const others = new Map<string, number>();
  let own = 0;
  for (const company of companiesOf(records)) {
    if (known.has(company)) own += 1;
    else others.set(company, (others.get(company) ?? 0) + 1);
  }
  return { own, others };
}

/**
 * Judges by majority whose records these are; null where none names a company.
 *
 * One foreign record among many is left to the service; one shared record among many foreign ones does not make a list ours.
 */
export function judgeCompany(companies: NamedCompanies): 'own' | 'other' | null {
  const foreign = [...companies.others.values()].reduce((sum, count) => sum + count, 0);
  if (companies.own + foreign === 0) return null;
  return companies.own >= foreign ? 'own' : 'other';
}

/** The company of each record that names one. */
function companiesOf(records: readonly Json[]): readonly string[] {
  return records.flatMap((record) => {
    const company = isObject(record) ? record['system_id'] : null;
    return isNumber(company) || typeof company === 'string' ? [String(company)] : [];
  });
}
