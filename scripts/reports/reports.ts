import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where the reports, their plots and their page are. */
export const REPORTING = join(import.meta.dirname, '../../docs/reporting');

/** A column of a report that a plot shows, under the name that a reader sees; `_e4` columns are shown in whole units. */
type Series = Readonly<Record<string, string>>;

/** A report of docs/reporting: its SQL is in `reports/<name>.sql`. */
export interface Report {
  readonly name: string;
  readonly title: string;
  readonly question: string;
  /** What a reader must know before trusting it. */
  readonly notes: readonly string[];
  /** The table of the page shows these columns; all where none are named. */
  readonly shown?: readonly string[];
  readonly plot: ReportPlot;
}

/** The sums of some columns for each time or name. */
export interface ReportPlot {
  readonly caption: string;
  /** The columns that name a bar together. */
  readonly by: readonly string[];
  readonly isTime: boolean;
  readonly series: Series;
  /** How many values are plotted: the last times, or the first names. */
  readonly most: number;
}

export const REPORTS: readonly Report[] = [
  {
    name: 'receivables-by-client',
    title: 'Receivables and activity by client',
    question:
      'How much was invoiced to each client, how much is still to be invoiced, and which work is open for it?',
    notes: [
      'The service sends no payments: `invoiced` is all that was ever invoiced, so the most that the client can owe.',
      'A booking is invoiced if it has a `fact_number`. If your service calls that `invoice`, write that in its place.',
      'Bookings marked `inactive` count, as nothing tells what the mark means: add `where inactive = 0` to leave them out.',
      'Client 0 has all rows that name no client; a `code` that is null beside another id is a client that is gone.',
    ],
    shown: [
      'code',
      'name',
      'credit_exact',
      'bookings',
      'active_projects',
      'last_pickup',
      'invoiced_exact',
      'to_invoice_exact',
    ],
    plot: {
      caption: 'The ten clients with the most invoiced',
      by: ['code', 'name'],
      isTime: false,
      series: { invoiced: 'invoiced_e4', 'to invoice': 'to_invoice_e4' },
      most: 10,
    },
  },
  {
    name: 'purchases-by-provider',
    title: 'Purchases received and on hold by provider',
    question: 'Which provider has delivered what, and how much is still awaited from each?',
    notes: [
      'A purchase line names no provider: it counts for the provider of its product.',
      'A line counts as on hold in whole as long as a part of it is; the quantities tell the parts.',
      'Quantities of all units are added up, as a purchase line names none: compare them within a provider.',
    ],
    shown: ['code', 'name', 'lines', 'lines_on_hold', 'total_received_exact', 'total_on_hold_exact'],
    plot: {
      caption: 'The ten providers with the most on hold',
      by: ['code', 'name'],
      isTime: false,
      series: { 'on hold': 'total_on_hold_e4', received: 'total_received_e4' },
      most: 10,
    },
  },
  {
    name: 'hours-by-technician-and-week',
    title: 'Hours by technician and week',
    question: 'How long did each technician work in each week?',
    notes: [
      'The service lists no users: `user_id` is all that it tells of a technician.',
      'A punch without an end has no hours yet; `open_punches` counts these. A punch without a date is left out.',
    ],
    plot: {
      caption: 'Hours of all technicians in the last twelve weeks',
      by: ['week'],
      isTime: true,
      series: { hours: 'hours_e4' },
      most: 12,
    },
  },
  {
    name: 'bookings-by-month',
    title: 'Bookings per month',
    question: 'How many bookings are picked up in each month, for how many clients, and at what price?',
    notes: ['A booking counts in the month of its pick-up; `none` has those without a day.'],
    shown: ['month', 'bookings', 'clients', 'price_exact'],
    plot: {
      caption: 'Price of the bookings of the last twelve months',
      by: ['month'],
      isTime: true,
      series: { price: 'price_e4' },
      most: 12,
    },
  },
  {
    name: 'changes-by-day',
    title: 'Changes per day',
    question: 'How much was created, updated, deleted and restored on each day?',
    notes: [
      "Days are those on which the mirror found the changes. In PostgreSQL they are days of the session's time zone: " +
        "`set timezone to 'UTC'` gives the days of SQLite.",
      'A first load makes no events, so the first day is the first one after it.',
    ],
    plot: {
      caption: 'Changes found on each day',
      by: ['day'],
      isTime: true,
      series: { created: 'created', updated: 'updated', deleted: 'deleted', restored: 'restored' },
      most: 12,
    },
  },
  {
    name: 'margin-by-product',
    title: 'Margin by product',
    question:
      'How much did the purchases of each product cost, and how much are they worth at the list price?',
    notes: [
      'The service lists no sales: the margin is that of selling all that was bought at the list price of today.',
      'The value at the list price is cut after four places. It is null for a product without a price.',
    ],
    shown: ['code', 'name_fr', 'lines', 'cost_exact', 'margin_exact'],
    plot: {
      caption: 'The ten products with the largest margin',
      by: ['code', 'name_fr'],
      isTime: false,
      series: { margin: 'margin_e4' },
      most: 10,
    },
  },
];

/** The SQL of a report, which runs unchanged on both databases. */
export const sqlOf = ({ name }: Pick<Report, 'name'>): string =>
  readFileSync(join(REPORTING, 'reports', `${name}.sql`), 'utf8');
