import type { ListedKind } from '../catalog/kind.ts';
import { recordId } from '../diff/record-id.ts';
import { isNumber, isObject } from '../lib/json.ts';
import { OtherSourceError } from '../mirror/errors.ts';
import type { Session } from '../mirror/session.ts';
import { bindSystem, boundSystem } from '../mirror/source-binding.ts';
import { hasMoreLive } from '../mirror/status-store.ts';
import type { ListResponse } from '../source/source.ts';

export interface Guard {
  readonly session: Session;
  readonly kind: ListedKind;
  /** Lets another company's list pass: the operator said that the source is new. */
  readonly acceptNewSource: boolean;
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
    guard.acceptNewSource || !(await hasMoreLive(guard.session, guard.kind.name, ROWS_THAT_IDENTIFY));
  let held: ListResponse[] = [];
  for await (const response of responses) {
    await checkSystem(guard, response);
    held.push(response);
    isRecognized ||= await knowsOneOf(guard, response);
    if (isRecognized) {
      yield* held;
      held = [];
    } else if (held.length > PAGES_HELD_BACK) break;
  }
  if (held.some(({ records }) => records.length > 0)) throw strangers(guard);
  yield* held; // An emptied list is a reading like any other.
}

async function checkSystem({ session, kind }: Guard, { records }: ListResponse): Promise<void> {
  if (!kind.fields.some(({ name }) => name === 'system_id')) return;
  const systems = new Set(records.map(systemOf).filter((system) => system !== null));
  const [first] = systems;
  if (first === undefined) return;
  const bound = await boundSystem(session);
  if (bound === null) await bindSystem(session, first);
  else if (!systems.has(bound)) {
    const message = `The token reads company ${first} (system_id), and this mirror holds company ${bound}.`;
    throw new OtherSourceError(message, { code: 'mirror.other_source', hint: HINT });
  }
}

function systemOf(record: ListResponse['records'][number]): string | null {
  const system = isObject(record) ? record['system_id'] : null;
  return isNumber(system) || typeof system === 'string' ? String(system) : null;
}

async function knowsOneOf({ session, kind }: Guard, { records }: ListResponse): Promise<boolean> {
  const ids = records.map(recordId).flatMap((identity) => ('id' in identity ? [identity.id] : []));
  const known = await session.atomically((tx) => tx.rowsById(kind.name, ['id'], ids));
  return known.size > 0;
}

function strangers({ kind }: Guard): OtherSourceError {
  const message = `The list of ${kind.name} shares no record with those that this mirror holds: it is another company's.`;
  return new OtherSourceError(message, { code: 'mirror.other_source', hint: HINT });
}
