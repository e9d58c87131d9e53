import { LISTED_KINDS } from '../../catalog/kinds/catalog.ts';
import type { Kind, ListedKind } from '../../catalog/kind.ts';
import { recordId } from '../../diff/compare-page.ts';
import { isNumber, isObject, type Json } from '../../lib/json/json.ts';
import { OtherSourceError } from '../../db/session/errors.ts';
import {
  hasCompanyField,
  readCompanies,
  type SourceBinding,
  type KindCompanies,
} from '../../store/kinds/source-binding.ts';
import { hasMoreLiveRows } from '../../store/kinds/status-store.ts';
import { SourceError } from '../../source/http/errors.ts';
import type { ListResponse } from '../../source/paging/list-responses.ts';
import type { PullParts } from '../run/parts.ts';
import type { Session } from '../../db/session/session.ts';

/** The companies that a kind's records may name. */
interface CompaniesOfKind {
  readonly kind: Kind;
  readonly tenants: KindCompanies;
}

/** The facts that show which company the records of a kind belong to. */
export interface TenantGuard extends CompaniesOfKind {
  readonly parts: Pick<PullParts, 'session' | 'source' | 'signal'>;
  readonly binding: SourceBinding;
}

/** This few rows may all have been replaced; if there are more, a list that shares none of them is another company's. */
const ROWS_THAT_IDENTIFY = 20;
/** After this many pages without a known row, the list belongs to another company. */
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
  const { binding, kind, parts } = guard;
  let isRecognized = binding.isNew || !(await hasMoreLiveRows(parts.session, kind.name, ROWS_THAT_IDENTIFY));
  let heldResponses: ListResponse[] = [];
  for await (const response of responses) {
    const hasOwnCompany = requireCompany(guard, response);
    const hasKnownRow = !isRecognized && (await isKnown(guard, response));
    heldResponses.push(response);
    isRecognized ||= hasKnownRow;
    if (isRecognized) {
      binding.isConfirmed ||= hasOwnCompany || hasKnownRow;
      await verifyTenant(parts, binding);
      yield* heldResponses;
      heldResponses = [];
    } else if (heldResponses.length > PAGES_HELD_BACK) break;
  }
  if (heldResponses.length === 0) return;
  const shown = heldResponses.reduce((sum, response) => sum + recordIdsOf(response.read()).length, 0);
  if (shown > 0)
    throw otherCompanyError(
      `The list of ${kind.name} shows ${shown} ids, and this mirror has none of them: the list belongs to another company (the mirror has more than ${ROWS_THAT_IDENTIFY} live rows).`,
    );
  await verifyTenant(parts, binding);
  yield* heldResponses; // An emptied list, or one whose records lost their ids, is a reading like any other.
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
export async function verifyTenant(parts: TenantGuard['parts'], binding: SourceBinding): Promise<void> {
  if (binding.isNew || binding.isConfirmed) return;
  if (!binding.isCompanyRead) {
    const isShort = (kind: Kind): number => Number(kind.name === 'departments');
    for (const kind of LISTED_KINDS.filter(hasCompanyField).toSorted((a, b) => isShort(b) - isShort(a))) {
      const tenants = await readCompanies(parts.session, kind, false);
      if (tenants.isLearning || !(await isOurs({ parts, kind, binding, tenants }))) continue;
      binding.isConfirmed = true;
      return;
    }
    binding.isCompanyRead = true;
  }
  if (binding.refusal !== null) throw binding.refusal;
}

/** Whether the first page of a kind names a company of the mirror. */
async function isOurs(guard: TenantGuard & { readonly kind: ListedKind }): Promise<boolean> {
  const { source, signal } = guard.parts;
  try {
    const pages = source.pages(guard.kind, { from: 1, to: 1 }, { tick: () => 0, signal });
    for await (const response of pages) if (requireCompany(guard, response)) return true;
    return false;
  } catch (error) {
    if (error instanceof OtherSourceError) guard.binding.refusal ??= error;
    else if (!(error instanceof SourceError)) throw error;
    return false;
  }
}

async function isKnown(guard: TenantGuard, response: ListResponse): Promise<boolean> {
  if (response.isUnchanged) return true; // Records shown before belong to the same company.
  const ids = recordIdsOf(response.read());
  const rows = await guard.parts.session.atomically((tx) => tx.readRowsById(guard.kind.name, ['id'], ids));
  return rows.size > 0;
}

function recordIdsOf(records: readonly Json[]): string[] {
  return records.map(recordId).flatMap((identity) => ('id' in identity ? [identity.id] : []));
}

/** Puts kinds whose lists name the company first: their answers decide for the others. */
export async function sortKindsByCompany(
  session: Session,
  kinds: readonly ListedKind[],
): Promise<ListedKind[]> {
  const ranks: ListedKind[][] = [[], [], [], []];
  for (const kind of kinds) {
    const isNamed = hasCompanyField(kind);
    let rank = isNamed ? 2 : 3;
    if (isNamed && !(await readCompanies(session, kind, false)).isLearning) rank = 0;
    else if (await hasMoreLiveRows(session, kind.name, ROWS_THAT_IDENTIFY)) rank = 1;
    ranks[rank]?.push(kind);
  }
  return ranks.flat();
}

/**
 * Refuses a response that mostly names other companies than the kind's. While no company is known, the companies that it names
 * are learned.
 *
 * @returns Whether it names a known company.
 * @throws {OtherSourceError}
 */
export function requireCompany(
  companiesOfKind: CompaniesOfKind,
  response: { readonly isUnchanged: boolean; readonly read: () => readonly Json[] },
): boolean {
  const { kind, tenants } = companiesOfKind;
  if (!hasCompanyField(kind)) return false;
  if (response.isUnchanged) return true;
  const records = response.read();
  if (tenants.isLearning) {
    for (const company of companiesOf(records)) tenants.companies.add(company);
    return false;
  }
  const named = companiesOf(records);
  const owner = judgeCompany(named, tenants.companies);
  if (owner === 'other') {
    const listed = (ids: Iterable<string>): string => [...ids].slice(0, COMPANIES_SHOWN).join(', ');
    const others = [...new Set(named)].filter((company) => !tenants.companies.has(company));
    throw otherCompanyError(
      `The list of ${kind.name}: the token reads company ${listed(others)} (system_id), and this mirror holds company ${listed(tenants.companies)}.`,
    );
  }
  return owner === 'own';
}

const COMPANIES_SHOWN = 3;

function otherCompanyError(message: string): OtherSourceError {
  const hint =
    'Use the token of the right company, or set DATABASE_URL to a separate mirror; --new-source accepts the change.';
  return new OtherSourceError(message, { code: 'mirror.other_source', hint });
}

/**
 * Judges by majority whose records name these companies; null where none is named.
 *
 * One foreign record among many is left to the service; one shared record among many foreign ones does not make a list ours.
 */
export function judgeCompany(named: readonly string[], known: ReadonlySet<string>): 'own' | 'other' | null {
  if (named.length === 0) return null;
  const own = named.filter((company) => known.has(company)).length;
  return 2 * own >= named.length ? 'own' : 'other';
}

/** The companies (`system_id`) that records name, one for each record that names one. */
export function companiesOf(records: readonly Json[]): readonly string[] {
  return records.flatMap((record) => {
    const company = isObject(record) ? record['system_id'] : null;
    return isNumber(company) || typeof company === 'string' ? [String(company)] : [];
  });
}
