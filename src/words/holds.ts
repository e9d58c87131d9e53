import type { MessageKey } from '../lib/text/translator.ts';

/** What happens next to records that disappeared, by their state. */
export const HOLD_WORDS: Readonly<Record<string, MessageKey>> = {
  suspected: 'deleted once the service, or a later list, proves that they are gone',
  held: 'stay until you decide: bms-sync deletions approve|reject KIND',
  approved: 'deleted once proven, as you decided',
  released: 'deleted once proven; nobody decided in time',
  rejected: 'stay, as you decided',
};

const UNCLEAR: MessageKey = 'no list shows them, and the service gives no clear answer about each by itself';

/** Why held records need a person, where it is not their number. */
const REASONS: Readonly<Record<string, MessageKey>> = {
  never_listed: 'an answer of the service named them, and no list has ever shown them',
  others_hidden:
    'no list shows them, nor records that answers of the service have named: it may show a part only',
  still_there: 'no list shows them, and the service still shows each by itself',
  forbidden: 'no list shows them, and the service refuses to show them by themselves',
  older_than:
    'exactly the oldest rows are missing: if the list shows recent rows only, reject, and older rows stay while the kind is certified',
};

/** Why held records need a person (`older_than:id`); null where too many are gone at once. */
export function heldBecause(why: string | null): MessageKey | null {
  if (why === null) return null;
  const [code = ''] = why.split(':');
  return REASONS[code] ?? UNCLEAR;
}
