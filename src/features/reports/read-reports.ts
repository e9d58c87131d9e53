import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_FOLDER } from '../../lib/package-folder.ts';

/** Where the reports are: one file of SQL each, with a head of comments. */
export const REPORT_FOLDER = join(PACKAGE_FOLDER, 'src/features/reports/catalogue');

/** What a head may have. A text goes on in lines that begin with more blanks. */
const PROPERTIES =
  'title title_fr question question_fr note note_fr days counts keys time labels metric shown plot by bars'.split(
    ' ',
  );
const GRAINS = ['day', 'week', 'month', 'quarter'] as const;

/** Every report, by name: assistants run them, and scripts/reports writes docs/reporting and deploy/superset from them. */
export const REPORTS = readdirSync(REPORT_FOLDER)
  .sort()
  .map((file) => parseReport(file.replace(/\.sql$/, ''), readFileSync(join(REPORT_FOLDER, file), 'utf8')));

export const findReport = (name: string) => REPORTS.find((report) => report.name === name);

/**
 * Reads a report: its head, with lines such as `-- time: month`, an empty line, and its SQL. Its last twelve times are plotted,
 * or its first ten names.
 *
 * @throws {TypeError} For a head that lacks a property, or has an unknown one.
 */
export function parseReport(name: string, text: string) {
  const end = text.indexOf('\n\n');
  const { all, one, names } = readHead(name, text.slice(0, end));
  const [grain = null] = all('time');
  const time = GRAINS.find((one) => one === grain) ?? null;
  if (time !== grain)
    throw new TypeError(`${name}.sql: "-- time: ${grain}" is not one of ${GRAINS.join(', ')}.`);
  const labels = names('labels');
  const keys = one('keys').split(', ');
  const named = all('by').length > 0 ? names('by') : time === null ? labels : [time];
  const by = [...named, ...keys.filter((key) => key === 'currency')]; // A bar adds up one currency.
  const isTime = time !== null && by.includes(time);
  const metrics = all('metric').map((line) => {
    const [metric, column, question] = parseColumn(name, line);
    return [metric, { column, question }] as const;
  });
  const bars = one('bars')
    .split(', ')
    .map((bar) => parseColumn(name, bar));
  return {
    name,
    title: one('title'),
    question: one('question'),
    /** Its title, its question and its notes for readers of French. */
    inFrench: { title: one('title_fr'), question: one('question_fr'), notes: all('note_fr') },
    /** What a reader must know before trusting it. */
    notes: all('note'),
    /** Runs unchanged on both databases. */
    sql: text.slice(end + 2),
    /** Whether its part `asked` takes a first and a last day. */
    from: names('days').includes('first'),
    to: names('days').includes('last'),
    /** The settings `reports` by which statuses count in it: `sold`, `owed`, `bought`. */
    counts: names('counts'),
    /** The columns that name a row together; none of them is ever null. */
    keys,
    /** The column of its times, as texts, and their grain; null: it shows the present. */
    time,
    /** Further columns to group figures by. */
    labels,
    /** The figures that add up over its rows, by the name of their metric. */
    metrics: Object.fromEntries(metrics),
    /** The table of the page shows these columns; all where none are named. */
    shown: names('shown'),
    /** The sums of some columns for each time or name. */
    plot: {
      caption: one('plot'),
      /** The columns that name a bar together: the time, or else the labels, where the file names none. */
      by,
      isTime,
      /** Columns under the names that a reader sees; `_e4` columns are shown in whole units. */
      series: Object.fromEntries(bars.map(([label, column]) => [label, column])),
      /** How many values are plotted: the last times, or the first names. */
      most: isTime ? 12 : 10,
    },
  };
}

function readHead(name: string, head: string) {
  const lines = head.replaceAll(/\n-- {2,}/g, ' ').split('\n');
  const texts = new Map<string, string[]>(PROPERTIES.map((property) => [property, []]));
  for (const line of lines) {
    const [, property = '', text = ''] = /^-- (\w+): (.+)$/.exec(line) ?? [];
    const known = texts.get(property);
    if (known === undefined) throw new TypeError(`${name}.sql: "${line}" is no line of its head.`);
    known.push(text);
  }
  const all = (property: string): readonly string[] => texts.get(property) ?? [];
  const one = (property: string): string => {
    const [text] = all(property);
    if (text === undefined) throw new TypeError(`${name}.sql has no line "-- ${property}: …".`);
    return text;
  };
  const names = (property: string): readonly string[] => all(property).flatMap((text) => text.split(', '));
  return { all, one, names };
}

/** A label with its column, and what may follow: `hours (hours_e4): How long did technicians work?`. */
function parseColumn(name: string, text: string): readonly [string, string, string] {
  const [, label, column, question = ''] = /^([^(]+) \((\w+)\)(?:: (.+))?$/.exec(text) ?? [];
  if (label === undefined || column === undefined)
    throw new TypeError(`${name}.sql: "${text}" names no column, as in "hours (hours_e4)".`);
  return [label, column, question];
}
