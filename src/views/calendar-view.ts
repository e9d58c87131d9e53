import { literal } from '../db/session/sql-text.ts';
import { translateAll } from '../lib/text/translator.ts';
import type { Dialect } from '../store/tables/kind-table.ts';
import { CALENDAR } from './calendar-days.ts';
import type { View } from './create-views.ts';
import { asText } from './engine-views.ts';
import { MONTHS, WEEKDAYS, engineColumns } from './engine-columns.ts';

/** One row per day, with the instants at which it begins and ends by the clocks of the company. */
export const calendarView = (dialect: Dialect): View => {
  const name = (number: string, names: string): string =>
    dialect === 'sqlite' ? asText(nameOf(`n.${number}`, names)) : nameOf(`n.${number}`, names);
  return {
    name: 'bi_calendar',
    meaning: translateAll('The days from 2000 to 2049, one row each.'),
    columns: engineColumns('calendar', {
      month_en: name('month', MONTHS.en),
      month_fr: name('month', MONTHS.fr),
      weekday_en: name('weekday', WEEKDAYS.en),
      weekday_fr: name('weekday', WEEKDAYS.fr),
    }),
    from: `from ${CALENDAR} n`,
  };
};

function nameOf(number: string, names: string): string {
  const cases = names.split(' ').map((name, index) => `when ${index + 1} then ${literal(name)}`);
  return `case ${number} ${cases.join(' ')} end`;
}
