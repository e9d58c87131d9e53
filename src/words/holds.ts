import type { MessageKey } from '../lib/text/translator.ts';

/** The next step for records that disappeared, by their state. */
export const HOLD_WORDS: Readonly<Record<string, MessageKey>> = {
  suspected: 'deleted once the service, or a later list, proves that they are gone',
  held: 'stay until you decide: bms-sync deletions approve|reject KIND',
  approved: 'deleted once proven, as you decided',
  released: 'deleted once proven; nobody decided in time',
  rejected: 'stay, as you decided',
};

const UNCLEAR: MessageKey =
  'the list no longer shows them, and the service gives no clear answer about any of them';

const MANY: MessageKey =
  'more records left the list at once than deletions.holdAbove allows, or more than a third of them all, or the list itself is in doubt';

/** Why held records need a person, by the code of the reason. */
const REASONS: Readonly<Record<string, MessageKey>> = {
  never_listed: 'the service returned them, but no list has ever shown them',
  others_hidden:
    'the list shows neither them nor other records that the service returned: it may be incomplete',
  still_there: 'the list no longer shows them, but the service still returns each of them',
  forbidden: 'the list no longer shows them, and the service refuses to return them',
  older_than:
    'exactly the oldest rows are missing: if the list shows only recent rows, reject; the older rows stay, and the kind can be certified',
};

/** Why held records need a person. @param why A code, with facts after a colon: `older_than:id`; null = their number, or a doubtful list. */
export function heldBecause(why: string | null): MessageKey {
  if (why === null) return MANY;
  const [code = ''] = why.split(':');
  return REASONS[code] ?? UNCLEAR;
}
