import { parseJson } from '../../lib/json.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import type { Entry } from '../../mirror/outbox/outbox-store.ts';
import type { History } from './entry-list.ts';
import { explain } from './verdicts.ts';

/** An entry as programs see it in a list. */
export function entryDocument(entry: Entry): JsonObject {
  const { id, key, kind, operation, recordId, state, verdict } = entry;
  const { attempts, nextAttemptAt, createdAt, updatedAt } = entry;
  return {
    ...{ id, key, kind, operation, recordId, state, verdict, meaning: explain(entry).meaning },
    ...{ attempts, nextAttemptAt, createdAt, updatedAt },
    ...{ payload: jsonOrText(entry.payload), result: jsonOrText(entry.result) },
  };
}

/** An entry as programs see it alone. */
export function historyDocument({ entry, attempts, isMaker }: History): JsonObject {
  const { naturalKey, owner } = entry;
  return {
    ...{ ...entryDocument(entry), next: explain(entry).next, owner, naturalKey, isMaker },
    ...{ base: jsonOrText(entry.base), preimage: jsonOrText(entry.preimage) },
    history: attempts.map((attempt) => ({ ...attempt })),
  };
}

/** JSON of the outbox, parsed; text that an application stored in another form stays text. */
export function jsonOrText(text: string | null): Json {
  if (text === null) return null;
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return text;
    throw error;
  }
}
