import type { Report } from '../report.ts';
import { closedMonths } from './shop.ts';

/** Letters with accents, capitals too: SQLite's `lower` knows none of them. */
const ACCENTS = { a: 'àâäÀÂÄ', c: 'çÇ', e: 'éèêëÉÈÊË', i: 'îïÎÏ', o: 'ôöÔÖ', u: 'ùûüÙÛÜ', y: 'ÿŸ' };

const without = (text: string, signs: string, by: string): string =>
  Array.from(signs).reduce(
    (inner, sign) => `replace(${inner}, '${sign === "'" ? "''" : sign}', '${by}')`,
    text,
  );

/** A name without accents, capitals, blanks and signs. */
const folded = (name: string): string =>
  without(
    `lower(${Object.entries(ACCENTS).reduce((inner, [letter, signs]) => without(inner, signs, letter), name)})`,
    " -.,'’&",
    '',
  );

/** The digits of a phone number, without the 1 before the area code. */
function digits(phone: string): string {
  const plain = without(phone, ' -().+/', '');
  return `case when length(${plain}) = 11 and substr(${plain}, 1, 1) = '1' then substr(${plain}, 2) else ${plain} end`;
}

const keysOf = (by: string, key: string, field: string): string =>
  `select '${by}' as found_by, ${key} as value, id as client_id, code, name from bi_clients where coalesce(${field}, '') <> ''`;

/** What somebody should look at. */
export const ATTENTION_REPORTS: readonly Report[] = [
  {
    name: 'duplicate-clients',
    title: 'Clients that may be the same',
    question: 'Which clients share a phone number or a name?',
    notes: [
      'Names are compared without accents, capitals, blanks and signs, phone numbers by their digits: Québec Auto = QUEBEC-AUTO.',
      'A shared number need not be a mistake: a family, a building, a head office.',
    ],
    sql: `-- Clients that share a name or a phone number with another one.
with named as (
  ${[keysOf('name', folded('name'), 'name'), ...['phone', 'phone2', 'phone_work'].map((field) => keysOf('phone', digits(field), field))].join('\n  union\n  ')}
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
      isTime: false,
      series: { clients: 'listed' },
      most: 10,
    },
  },
  {
    name: 'changes-after-closing',
    title: 'Bookings and punches changed after their month was closed',
    question: 'Which months of bookings and punches have other sums now than when they ended?',
    notes: [
      'A month is closed when it ends, in `schedules.timezone`. `then` is its price or its hours at that time, `now` the same at present.',
      'The mirror knows changes from the first certified reading of a kind on.',
    ],
    sql: closedMonths('Bookings and punches', [
      { kind: 'bookings', date: 'pickup_date', money: 'price' },
      { kind: 'punches', date: 'date', money: 'ptotal' },
    ]),
    keys: ['kind', 'month', 'company'],
    time: { column: 'month', grain: 'month' },
    labels: [],
    metrics: {
      late_changes: {
        column: 'changes',
        question: 'How often were bookings and punches changed after their month was closed?',
      },
    },
    plot: {
      caption: 'Changes of bookings and punches after their month was closed',
      by: ['month'],
      isTime: true,
      series: { changes: 'changes' },
      most: 12,
    },
  },
];
