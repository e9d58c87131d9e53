import { LISTED_KINDS } from '../catalog/catalog.ts';
import type { Kind, ListedKind } from '../catalog/kind.ts';
import { recordId } from '../diff/record-id.ts';
import { isNumber, isObject } from '../lib/json.ts';
import type { Json } from '../lib/json.ts';
import { OtherSourceError } from '../mirror/errors.ts';
import type { Session } from '../mirror/session.ts';
import type { SourceClaim } from '../mirror/source-binding.ts';
import { hasMoreLive } from '../mirror/status-store.ts';
import { SourceError } from '../source/errors.ts';
import type { ListResponse } from '../source/source.ts';
import type { PullParts } from './parts.ts';

export interface Guard {
  readonly session: Session;
  readonly kind: ListedKind;
  readonly claim: SourceClaim;
}

/** So few rows may well all have been replaced; with more, a list that shares none of them is another company's. */
const ROWS_THAT_IDENTIFY = 20;
/** Where the first page, the last one and so many more share no row, the rest of the list will not either. */
const PAGES_HELD_BACK = 50;

const HINT =
  'Use the token of the right company, or set DATABASE_URL to a mirror of its own; --new-source accepts the change.';

/**
 * Lets responses pass once they are known to be of the company that the mirror holds: nothing foreign ever lands.
 *
 * Rows must name the mirror's `system_id` where they have one, and one of them must be a row that the mirror knows.
 *
 * @throws {OtherSourceError} Before anything of the foreign list has landed.
 */
export async function* sameSource(
  responses: AsyncIterable<ListResponse>,
  guard: Guard,
): AsyncGenerator<ListResponse> {
  let isRecognized =
    guard.claim.isNew || !(await hasMoreLive(guard.session, guard.kind.name, ROWS_THAT_IDENTIFY));
  let held: ListResponse[] = [];
  for await (const response of responses) {
    if (namesCompany(guard.kind)) checkResponse(guard.claim, response);
    held.push(response);
    isRecognized ||= showsKnown(response) || (await knowsOneOf(guard, response.read()));
    if (isRecognized) {
      yield* held;
      held = [];
    } else if (held.length > PAGES_HELD_BACK) break;
  }
  if (held.some((response) => idsOf(response.read()).length > 0)) throw strangers(guard);
  yield* held; // An emptied list, or one whose records lost their ids, is a reading like any other.
}

/** What shows the same as before is of the same company. */
function showsKnown({ isKnown, partial }: ListResponse): boolean {
  return isKnown || partial !== null;
}

/** @throws {OtherSourceError} */
function checkResponse(claim: SourceClaim, { isKnown, partial, read }: ListResponse): void {
  if (isKnown) return;
  const systems = systemsOf(partial?.changed ?? []);
  const isOurs = systems.size === 0 || (claim.systemId !== null && systems.has(claim.systemId));
  if (partial === null || !isOurs) checkSystem(claim, read());
}

/** Whether a kind's records name their company. */
export function namesCompany(kind: Kind): boolean {
  return kind.fields.some(({ name }) => name === 'system_id');
}

/**
 * Makes sure of the company before kinds are swept that neither name it nor have rows enough to tell: one request more,
 * and only then.
 *
 * @throws {OtherSourceError}
 */
export async function confirmCompany(
  parts: PullParts,
  kinds: readonly ListedKind[],
  claim: SourceClaim,
): Promise<void> {
  if (kinds.some(namesCompany)) return;
  const known = await Promise.all(
    kinds.map(({ name }) => hasMoreLive(parts.session, name, ROWS_THAT_IDENTIFY)),
  );
  if (!known.every(Boolean)) await askWitness(parts, claim);
}

/**
 * Reads the shortest list that names its company, and compares; a token that may not read it leaves the question open.
 *
 * @throws {OtherSourceError}
 */
export async function askWitness({ source, signal }: PullParts, claim: SourceClaim): Promise<void> {
  const witness = LISTED_KINDS.find(({ name }) => name === 'departments');
  if (claim.isNew || claim.systemId === null || witness === undefined) return;
  try {
    const pages = source.pages(witness, { from: 1, to: 1 }, { tick: () => 0, signal });
    for await (const response of pages) checkSystem(claim, response.read());
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
  }
}

/** Lets responses pass whose records do not name another company; which of them the mirror knows is no question. */
export async function* ofSameCompany(
  responses: AsyncIterable<ListResponse>,
  { kind, claim }: Pick<Guard, 'kind' | 'claim'>,
): AsyncGenerator<ListResponse> {
  for await (const response of responses) {
    if (namesCompany(kind)) checkSystem(claim, response.read());
    yield response;
  }
}

/**
 * Refuses records that name another company than the mirror's; the first that names one is the mirror's.
 *
 * @throws {OtherSourceError}
 */
export function checkSystem(claim: SourceClaim, records: readonly Json[]): void {
  const systems = systemsOf(records);
  const [first] = systems;
  if (first === undefined || (claim.systemId !== null && systems.has(claim.systemId))) return;
  if (claim.systemId !== null) {
    const message = `The token reads company ${first} (system_id), and this mirror holds company ${claim.systemId}.`;
    throw new OtherSourceError(message, { code: 'mirror.other_source', hint: HINT });
  }
  claim.systemId = first;
  claim.isBound = false;
}

function systemsOf(records: readonly Json[]): ReadonlySet<string> {
  return new Set(records.map(systemOf).filter((system) => system !== null));
}

function systemOf(record: Json): string | null {
  const system = isObject(record) ? record['system_id'] : null;
  return isNumber(system) || typeof system === 'string' ? String(system) : null;
}

async function knowsOneOf({ session, kind }: Guard, records: readonly Json[]): Promise<boolean> {
  const known = await session.atomically((tx) => tx.rowsById(kind.name, ['id'], idsOf(records)));
  return known.size > 0;
}

function idsOf(records: readonly Json[]): string[] {
  return records.map(recordId).flatMap((identity) => ('id' in identity ? [identity.id] : []));
}

function strangers({ kind }: Guard): OtherSourceError {
  const message = `The list of ${kind.name} shares no record with those that this mirror holds: it is another company's.`;
  return new OtherSourceError(message, { code: 'mirror.other_source', hint: HINT });
}
