import { translatorFor, type MessageKey } from '../lib/text/translator.ts';

/** The next step for records that disappeared, by their state. */
export const HOLD_WORDS: Readonly<Record<string, MessageKey>> = {
  suspected: 'deleted once the service, or a later list, proves that they are gone',
  held: 'stay until you decide: bms-sync deletions approve|reject KIND',
  approved: 'a pull deletes them once that is proven, as you decided; changes then lists each',
  rejected: 'stay, as you decided',
};

const UNCLEAR: MessageKey =
  'the list no longer shows them, and the service gives no clear answer about any of them';

const UNNAMED: MessageKey = 'they left the list, and their deletion needs a decision';

/** Why held records need a person, by the code of the reason. */
const REASONS: Readonly<Record<string, MessageKey>> = {
  rows: 'more than {figure, number} records left the list at once, the limit in the settings',
  share:
    'more than {figure, number, ::percent .##} of the records left the list at once, the limit in the settings',
  third: 'more than a third of all records left the list at once',
  empty: 'the service returned an empty list',
  cut_off: 'the list may be cut off, by a limit (as round a number as before) or a broken page (404)',
  rights: 'the list was read with the token of another user, who may see less',
  replaced: 'other records took their place at one end of the list, which may be cut off',
  never_listed: 'the service returned them, but no list has ever shown them',
  others_hidden:
    'the list shows neither them nor other records that the service returned: it may be incomplete',
  still_there: 'the list no longer shows them, but the service still returns each of them',
  forbidden: 'the list no longer shows them, and the service refuses to return them',
  older_than:
    'exactly the oldest rows are missing: if the list shows only recent rows, reject; the older rows stay, and the kind can be certified',
};

/**
 * Why held records need a person.
 * @param why A code, with a figure or a field after a colon: `rows:5`, `older_than:id`; null where an older release held them.
 */
export function heldBecause(why: string | null, { t } = translatorFor('en')): string {
  const [code = '', figure] = (why ?? '').split(':');
  return t(why === null ? UNNAMED : (REASONS[code] ?? UNCLEAR), { figure: Number(figure) });
}
