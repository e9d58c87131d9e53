import type { WrittenReport } from './report.ts';
import { WEEKS, amount, companyOf, readingOf, fieldIsKnown } from './sql.ts';

const OPEN = `${fieldIsKnown('punches', 'end_time')} * case when p.end_time is null then 1 else 0 end`;

const NO_USERS = 'The service lists no users: only `user_id` identifies a technician.';

/** The work of technicians, and of the mirror. */
export const WORK_REPORTS: readonly WrittenReport[] = [
  {
    name: 'hours-by-technician-and-week',
    title: 'Hours by technician and week',
    question: 'How long did each technician work in each week?',
    notes: [
      NO_USERS,
      'A week is named by its Monday; `none` has punches without a date, before 2000-01-03 or after 2049.',
      'A punch without an end has no hours yet; `open_punches` counts it.',
    ],
    sql: `-- Hours of each technician in each week, which is named by its Monday. An open punch has no end and no hours yet.
with ${WEEKS},
sums as (
  select coalesce(w.week, 'none') as week, ${companyOf('p')} as company, coalesce(p.user_id, 0) as user_id, count(*) as punches,
    sum(${OPEN}) as open_punches,
    cast(sum(p.ptotal_e4) as bigint) as hours
  from bi_punches p left join weeks w on w.day = cast(p.date as text)
  group by coalesce(w.week, 'none'), ${companyOf('p')}, coalesce(p.user_id, 0)
)
select week, company, user_id, punches, open_punches,
  ${amount('hours', 'hours')}
from sums order by week, company, user_id
`,
    keys: ['week', 'company', 'user_id'],
    time: 'week',
    metrics: {
      hours: { column: 'hours_e4', question: 'How long did technicians work?' },
      punches: { column: 'punches', question: 'How many punches are there?' },
    },
    plot: {
      caption: 'Hours of all technicians in the last twelve weeks',
      series: { hours: 'hours_e4' },
    },
  },
  {
    name: 'open-punches',
    title: 'Open punches',
    question: 'Which technician has not punched out, since which day?',
    notes: [
      NO_USERS,
      '`days_open` counts to the day of the last complete reading; null if a day is before 2000 or after 2049.',
    ],
    sql: `-- Punches without an end, by technician and day (\`none\`: without a date).
with days as (
  select cast(date as text) as day, day_number as number from bi_calendar
),
punches as (
  select ${companyOf('p')} as company, coalesce(p.user_id, 0) as user_id, coalesce(cast(p.date as text), 'none') as day,
    count(*) as open_punches
  from bi_punches p where p.end_time is null and ${fieldIsKnown('punches', 'end_time')} = 1
  group by ${companyOf('p')}, coalesce(p.user_id, 0), coalesce(cast(p.date as text), 'none')
)
select p.company, p.user_id, p.day, p.open_punches, r.number - d.number as days_open
from punches p left join days d on d.day = p.day
left join days r on r.day = ${readingOf('punches')}
order by p.day, p.company, p.user_id
`,
    keys: ['company', 'user_id', 'day'],
    time: 'day',
    metrics: { open_punches: { column: 'open_punches', question: 'How many punches have no end?' } },
    plot: {
      caption: 'Open punches of the last days that have any',
      series: { 'open punches': 'open_punches' },
    },
  },
  {
    name: 'changes-by-day',
    title: 'Changes per day',
    question: 'How much was created, updated, deleted and restored on each day?',
    notes: [
      'The day is when the mirror found the change, in `schedules.timezone`.',
      'The first pull makes no events, so the first day comes after it.',
    ],
    sql: `-- Changes found on each day. \`own\` counts those that bms-sync made itself.
select coalesce(cast(day as text), 'none') as day,
  sum(case when change = 'created' then 1 else 0 end) as created,
  sum(case when change = 'updated' then 1 else 0 end) as updated,
  sum(case when change = 'deleted' then 1 else 0 end) as deleted,
  sum(case when change = 'restored' then 1 else 0 end) as restored,
  sum(case when origin = 'service' then 0 else 1 end) as own
from bi_changes group by coalesce(cast(day as text), 'none') order by 1
`,
    keys: ['day'],
    time: 'day',
    metrics: {
      records_created: { column: 'created', question: 'How many records were created?' },
      records_updated: { column: 'updated', question: 'How many records were updated?' },
      records_deleted: { column: 'deleted', question: 'How many records were deleted?' },
      records_restored: { column: 'restored', question: 'How many records came back?' },
    },
    plot: {
      caption: 'Changes found on each day',
      series: { created: 'created', updated: 'updated', deleted: 'deleted', restored: 'restored' },
    },
  },
];
