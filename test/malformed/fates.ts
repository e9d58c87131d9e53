import type { HeldKind } from './checks.ts';
import type { Exchange } from './line-of-fire.ts';
import { outcomeOf, type Pulled } from './pull-once.ts';
import { isSameRows, rowIdentity } from './reading.ts';
import { canonical, type Node } from './json-reader.ts';

/** What became of a malformed answer: a stable word, and what is wrong with that, if anything is. */
export interface Fate {
  readonly code: string;
  readonly problem: string | null;
}

/** What the mirror says of a kind after a pull. */
export interface Held {
  readonly ids: ReadonlySet<string>;
  /** Codes of issues about whole records. */
  readonly quarantined: ReadonlySet<string>;
  /** Codes of open issues about fields, by record. */
  readonly misfits: ReadonlyMap<string, string>;
}

export function heldOf({ rows, issues }: HeldKind): Held {
  const ofFields = issues.filter(({ field, closed_at }) => field !== null && closed_at === null);
  return {
    ids: new Set(rows.map(({ id }) => String(id))),
    quarantined: new Set(issues.filter(({ field }) => field === null).map(({ code }) => String(code))),
    misfits: new Map(ofFields.map(({ record_id, code }) => [String(record_id), String(code)])),
  };
}

/** Finds out what became of a malformed answer. */
export function classifyExchange(exchange: Exchange, pulled: Pulled, held: Held): Fate {
  if (exchange.page === null) return fine(fateOfRecord(exchange));
  if (isHarmless(exchange)) return fine('harmless: the same records');
  const { reading, served } = exchange;
  const outcome = outcomeOf(pulled, served.name);
  const state = pulled.reports.get(served.name)?.state;
  if (state !== 'certified' && state !== 'complete') return fine(outcome);
  if (reading.is === 'refused') return fateOfRefused(exchange, pulled);
  if (isOddPage(exchange, pulled) && wasAskedAgain(exchange, pulled)) return fine('asked again');
  return reading.is === 'list'
    ? fateOfRows(reading.rows, outcome, held)
    : fine('harmless: nested deep beside');
}

function isHarmless({ reading, truth }: Exchange): boolean {
  return reading.is === 'list' && truth.is === 'list' && isSameRows(reading.rows, truth.rows);
}

const fine = (code: string): Fate => ({ code, problem: null });

/** The list was read all the same: then the question was put again. */
function fateOfRefused(exchange: Exchange, { exchanges }: Pulled): Fate {
  const { reading, target, served, page } = exchange;
  const same = exchanges.filter((other) => other.target === target && other.served === served);
  const wasAnswered = same.some((other) => other.reading.is !== 'refused');
  const wasRead = same.slice(0, same.indexOf(exchange)).some((other) => other.reading.is !== 'refused');
  if (page === 1 && wasRead) return fine('company: not learned here'); // Of a list that is empty, other lists are asked.
  if (reading.is === 'refused' && reading.mayPass && wasAnswered) return fine('asked again');
  return { code: 'swallowed', problem: 'no list, but it was read as one' };
}

/** A page of another size than the list's, as its first answer shows it, is taken for garbled where it is not the last. */
function isOddPage({ reading, served }: Exchange, { exchanges }: Pulled): boolean {
  const lists = exchanges.filter((other) => other.served === served && other.page !== null);
  const sizes = [served.pageSize, ...lists.slice(0, 1).map(sizeOf)];
  return reading.is === 'list' && sizes.some((size) => size !== reading.rows.length);
}

const sizeOf = ({ reading }: Exchange): number => (reading.is === 'list' ? reading.rows.length : 0);

function wasAskedAgain(exchange: Exchange, { exchanges }: Pulled): boolean {
  const later = exchanges.slice(exchanges.indexOf(exchange) + 1);
  return later.some(({ target, served }) => target === exchange.target && served === exchange.served);
}

function fateOfRecord({ reading, truth, id }: Exchange): string {
  if (reading.is === 'gone')
    return truth.is === 'gone' ? 'harmless: gone it is' : 'retrieve: gone, said once';
  const isIt = reading.is === 'record' && truth.is === 'record' && rowId(reading.record) === id;
  return isIt ? 'harmless: it is there' : 'retrieve: nothing concluded';
}

function rowId(row: Node): string | null {
  const identity = rowIdentity(row);
  return 'id' in identity ? identity.id : null;
}

/** A list that was read and landed: every row of it is a row of the mirror, or an issue. */
function fateOfRows(rows: readonly Node[], outcome: string, held: Held): Fate {
  const identities = rows.map(rowIdentity);
  const codes = identities.flatMap((identity) => ('code' in identity ? [identity.code] : []));
  const silent = codes.find((code) => !held.quarantined.has(code));
  if (silent !== undefined)
    return { code: 'swallowed', problem: `a row was dropped without an issue: ${silent}` };
  const ids = identities.flatMap((identity) => ('id' in identity ? [identity.id] : []));
  const twoVersions = clashing(rows);
  const lost = ids.find((id) => !held.ids.has(id) && !twoVersions.has(id));
  if (lost !== undefined)
    return { code: 'swallowed', problem: `record ${lost} was dropped without an issue` };
  const misfit = ids.map((id) => held.misfits.get(id)).find((code) => code !== undefined);
  const issue = codes[0] ?? (twoVersions.size > 0 ? 'two_versions' : misfit);
  if (issue !== undefined) return fine(`issue: ${issue}`);
  return fine(outcome === 'certified' ? 'well formed: other records, landed as sent' : outcome);
}

/** Ids that come more than once, with other content. */
function clashing(rows: readonly Node[]): Set<string> {
  const seen = new Map<string, string>();
  const clash = new Set<string>();
  for (const row of rows) {
    const id = rowId(row);
    const text = canonical(row);
    if (id !== null && (seen.get(id) ?? text) !== text) clash.add(id);
    if (id !== null) seen.set(id, text);
  }
  return clash;
}
