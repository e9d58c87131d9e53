import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parseReport, REPORTS } from '../../../src/features/reports/read-reports.ts';
import french from '../../../src/lib/text/locales/fr.json' with { type: 'json' };

const HEAD = `-- title: Hours by technician
-- title_fr: Machines
-- question: How long did each technician work?
-- question_fr: Services, machines ?
-- note: A punch without an end has no hours: they are known
--   once it has one.
-- note_fr: Services, machines
--   et pages.
-- days: first, last
-- keys: month, user_id
-- time: month
-- metric: hours (hours_e4): How long did technicians work?
-- plot: Hours of the last months
-- bars: hours (hours_e4), punches (punches)
`;

test('a report is its head and its SQL, comments of the SQL included', () => {
  const report = parseReport('hours', `${HEAD}\n-- Of today.\nselect 1\n\nfrom bi_punches\n`);
  expect(report).toEqual({
    name: 'hours',
    title: 'Hours by technician',
    question: 'How long did each technician work?',
    inFrench: {
      title: 'Machines',
      question: 'Services, machines ?',
      notes: ['Services, machines et pages.'],
    },
    notes: ['A punch without an end has no hours: they are known once it has one.'],
    sql: '-- Of today.\nselect 1\n\nfrom bi_punches\n',
    from: true,
    to: true,
    counts: [],
    keys: ['month', 'user_id'],
    time: 'month',
    labels: [],
    metrics: { hours: { column: 'hours_e4', question: 'How long did technicians work?' } },
    shown: [],
    plot: {
      caption: 'Hours of the last months',
      by: ['month'],
      isTime: true,
      series: { hours: 'hours_e4', punches: 'punches' },
      most: 12,
    },
  });
});

test('bars are named by the time, or else by the labels, or by what the head names, and by the currency', () => {
  const barsOf = (head: string): unknown => parseReport('hours', `${head}\nselect 1\n`).plot;
  const ofNames = { isTime: false, most: 10 };
  const priced = HEAD.replace('month, user_id', 'month, currency');
  expect(barsOf(priced)).toMatchObject({ isTime: true, by: ['month', 'currency'] });
  const present = HEAD.replace('-- time: month', '-- labels: code, name');
  expect(barsOf(present)).toMatchObject({ ...ofNames, by: ['code', 'name'] });
  expect(barsOf(`${HEAD}-- by: user_id\n`)).toMatchObject({ ...ofNames, by: ['user_id'] });
});

test('every text of a report is there in French: its notes in its head, its caption and its bars among our texts', () => {
  for (const { name, notes, inFrench, plot } of REPORTS) {
    expect(inFrench.notes.length, name).toBe(notes.length);
    for (const [at, note] of inFrench.notes.entries()) {
      expect(note, name).not.toBe(notes[at]);
      expect(note, name).not.toMatch(/ [!:?»]|« /); // A line could break there.
    }
    const texts = [plot.caption, ...Object.keys(plot.series)];
    const missing = texts.filter((text) => !Object.hasOwn(french, text));
    expect(missing, name).toEqual([]);
  }
});

test.each([
  [
    'an unknown property',
    HEAD.replace('-- keys', '-- key'),
    '"-- key: month, user_id" is no line of its head',
  ],
  ['an unknown grain', HEAD.replace('time: month', 'time: year'), '"-- time: year" is not one of day, week'],
  ['no caption', HEAD.replace(/-- plot.*\n/, ''), 'has no line "-- plot: …"'],
  ['a bar without a column', HEAD.replace(' (punches)', ''), '"punches" names no column'],
  ['a line that is no comment', `${HEAD}select 1\n`, '"select 1" is no line of its head'],
])('a head with %s is refused', (_, head, reason) => {
  expect(() => parseReport('hours', `${head}\nselect 1\n`)).toThrow(`hours.sql`);
  expect(() => parseReport('hours', `${head}\nselect 1\n`)).toThrow(reason);
});

test('the file that CONTRIBUTING.md shows is a report', () => {
  const shown = /```sql\n(-- title.*?)```\n/s.exec(readFileSync('CONTRIBUTING.md', 'utf8'))?.[1] ?? '';
  const { keys, notes, plot } = parseReport('clients-by-city', shown);
  expect({ keys, by: plot.by, series: plot.series }).toEqual({
    keys: ['city'],
    by: ['city'],
    series: { clients: 'clients' },
  });
  expect(notes).toEqual([
    '`none` has clients without one. A text may go on in a line that begins with more blanks.',
  ]);
});
