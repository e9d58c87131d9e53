import { closingReport } from './closing.ts';
import type { WrittenReport } from './report.ts';

/** Letters with accents, capitals too: SQLite's `lower` knows none of them. The other signs go. */
const FOLDS = ['àâäÀÂÄ', 'éèêëÉÈÊË', 'îïÎÏôöÔÖ', 'ùûüÙÛÜ', "çÇÿŸ -.,'’&"];

const without = (text: string, signs: string): string =>
  Array.from(signs).reduce((inner, sign) => {
    const letter = /\p{L}/u.test(sign) ? sign.normalize('NFD').charAt(0).toLowerCase() : '';
    return `replace(${inner}, '${sign === "'" ? "''" : sign}', '${letter}')`;
  }, text);

/** Parts of a `with` that fold `value`, a few signs in each: older releases of SQLite parse no deep nesting. */
const FOLDED = FOLDS.map(
  (signs, at) => `folded_${at + 1} as (
  select client_id, code, name, ${without('value', signs)} as value from ${at === 0 ? 'written' : `folded_${at}`}
)`,
).join(',\n');

const phonesOf = (field: string): string =>
  `select id as client_id, code, name, ${without(field, ' -().+/')} as value from bi_clients where coalesce(${field}, '') <> ''`;

/** What somebody should look at. */
export const ATTENTION_REPORTS: readonly WrittenReport[] = [
  {
    name: 'duplicate-clients',
    title: 'Clients that may be the same',
    question: 'Which clients share a phone number or a name?',
    notes: [
      'Names are compared without accents, capitals, blanks and signs, phone numbers by their digits: Québec Auto = QUEBEC-AUTO.',
      'A shared number need not be a mistake: a family, a building, a head office.',
    ],
    sql: `-- Clients that share a name or a phone number with another one.
with
written as (
  select id as client_id, code, name, name as value from bi_clients where coalesce(name, '') <> ''
),
${FOLDED},
phones as (
  ${['phone', 'phone2', 'phone_work'].map(phonesOf).join('\n  union\n  ')}
),
named as (
  select 'name' as found_by, lower(value) as value, client_id, code, name from folded_${FOLDS.length}
  union
  select 'phone', case when length(value) = 11 and substr(value, 1, 1) = '1' then substr(value, 2) else value end,
    client_id, code, name
  from phones
),
shared as (
  select found_by, value, count(distinct client_id) as clients from named
  where length(value) > 2 group by found_by, value having count(distinct client_id) > 1
)
select n.found_by, n.value, s.clients, 1 as listed, n.client_id, n.code, n.name
from shared s join named n on n.found_by = s.found_by and n.value = s.value
order by n.found_by, s.clients desc, n.value, n.client_id
`,
    keys: ['found_by', 'value', 'client_id'],
    time: null,
    labels: ['code', 'name'],
    metrics: {
      duplicate_clients: { column: 'listed', question: 'How often does a client share a name or a number?' },
    },
    shown: ['found_by', 'value', 'clients', 'client_id', 'code', 'name'],
    plot: {
      caption: 'The ten values that the most clients share',
      by: ['found_by', 'value'],
      series: { clients: 'listed' },
    },
  },
  closingReport('changes-after-closing', 'late_changes', 'Bookings and punches', [
    { kind: 'bookings', date: 'pickup_date', money: 'price' },
    { kind: 'punches', date: 'date', money: 'ptotal' },
  ]),
];
