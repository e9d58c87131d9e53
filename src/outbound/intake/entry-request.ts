import { randomUUID } from 'node:crypto';
import type { Kind } from '../../catalog/kind.ts';
import { isObject, tryParseJson, type Json } from '../../lib/json/json.ts';
import { ownEventLoopTurn } from '../../lib/time/event-loop-turn.ts';
import { UsageError } from '../../lib/sync-error.ts';
import type { SeenNames } from '../../store/kinds/field-store.ts';
import { didYouMean } from '../../lib/text/nearest-name.ts';
import { isStorable } from '../../lib/text/text.ts';
import { planKeyFaults, validateEntry, type EntryDraft, type ValidEntry } from './validate-entry.ts';
import { valueForMessage } from './write-value.ts';

/** A request for an entry of the outbox. */
export interface EntryRequest extends EntryDraft {
  /** The caller's own name for it: the same key is stored once. None given, a random one is made. */
  readonly key?: Json | undefined;
  /** Which of several it is, for messages: `line 3`. */
  readonly where?: string;
  /** The parser's fault; the request is then not checked further. */
  readonly unreadable?: readonly string[];
}

/** A request that can be stored. */
export interface CheckedEntry extends ValidEntry {
  readonly key: string;
  readonly where: string | null;
}

const LONGEST_KEY = 200;
/** Requests that are read or checked before other work of the process gets its turn. */
const REQUESTS_A_TURN = 20;

/**
 * Checks requests, all of them before any is stored.
 * @throws {UsageError} `outbox.invalid` with everything that is wrong with any of them.
 */
export async function checkEntries(
  kinds: readonly Kind[],
  requests: readonly EntryRequest[],
  seen: SeenNames,
): Promise<CheckedEntry[]> {
  const checked: CheckedEntry[] = [];
  const faults: string[] = [];
  for (const [index, request] of requests.entries()) {
    if (index % REQUESTS_A_TURN === REQUESTS_A_TURN - 1) await ownEventLoopTurn();
    const check = checkEntry(kinds, request, seen);
    if ('entry' in check) checked.push(check.entry);
    else {
      const place = request.where === undefined ? '' : `${request.where}: `;
      faults.push(...check.faults.map((fault) => `${place}${fault}`));
    }
  }
  if (faults.length === 0) return checked;
  const list = faults.join('\n  ');
  const hint = requests.length > 1 ? 'None of the entries was stored.' : 'Nothing was stored.';
  throw new UsageError(faults.length === 1 ? list : `${faults.length} faults:\n  ${list}`, {
    code: 'outbox.invalid',
    hint,
  });
}

function checkEntry(kinds: readonly Kind[], request: EntryRequest, seen: SeenNames) {
  const { key, where = null, unreadable = [] } = request;
  if (unreadable.length > 0) return { faults: unreadable };
  const validation = validateEntry(kinds, request, seen);
  const faults = [...('faults' in validation ? validation.faults : []), ...keyFaults(key)];
  if (faults.length > 0 || 'faults' in validation) return { faults };
  return { entry: { ...validation.ok, key: typeof key === 'string' ? key : randomUUID(), where } };
}

function keyFaults(key: Json | undefined): string[] {
  if (key === undefined || key === null) return [];
  const isKey = typeof key === 'string' && key.trim() !== '' && key.length <= LONGEST_KEY && isStorable(key);
  return isKey
    ? planKeyFaults(key)
    : [`key: expected a text of 1 to ${LONGEST_KEY} characters, got ${valueForMessage(key)}`];
}

const KEYS: readonly string[] = [
  'operation',
  'kind',
  'id',
  'data',
  'key',
  'base',
  'allowUnknown',
  'allowDouble',
];

/** Reads requests from NDJSON, one object per line; skips blank lines. Unreadable lines are reported when all are checked. */
export async function readBatch(text: string): Promise<EntryRequest[]> {
  const requests: EntryRequest[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (index % REQUESTS_A_TURN === REQUESTS_A_TURN - 1) await ownEventLoopTurn();
    if (line.trim() !== '') requests.push({ ...readRequest(line.trim()), where: `line ${index + 1}` });
  }
  return requests;
}

function readRequest(line: string): EntryRequest {
  const request = tryParseJson(line);
  if (!isObject(request)) return { ...NOTHING, unreadable: ['expected a JSON object'] };
  const unknown = Object.keys(request).filter((name) => !KEYS.includes(name));
  if (unknown.length === 0) return { ...NOTHING, ...request };
  const fault = `unknown: ${unknown.join(', ')}; an entry has ${KEYS.join(', ')}${didYouMean(unknown[0] ?? '', KEYS)}`;
  return { ...NOTHING, unreadable: [fault] };
}

const NOTHING = { operation: undefined, kind: undefined, data: undefined } as const;
