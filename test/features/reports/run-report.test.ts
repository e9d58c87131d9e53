import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { SHOP_KINDS, read } from '../../../scripts/reports/business.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { findReport, REPORTS } from '../../../src/features/reports/read-reports.ts';
import { kindsOfViews, VIEW } from '../../../src/features/reports/report.ts';
import { listReports, runReport, type ReportRequest } from '../../../src/features/reports/run-report.ts';
import { migrate } from '../../../src/views/migrate.ts';
import { readViewNames } from '../../../src/views/views.ts';
import { DATABASES, mirrorIn } from '../../events/support.ts';
import { sandbox } from '../../pull/support.ts';

const CHOSEN = { sold: ['invoice'], owed: ['invoice'], bought: ['received', 'invoiced'] };
const SALES = [
  { client_id: 0, date: '2025-03-31', status: 'invoice', total: '99999999999999.99' },
  { client_id: 0, date: '2025-04-01', status: 'invoice', total: '99999999999999.99' },
  { client_id: 0, date: '2025-04-15', status: 'invoice', total: '-0.01' },
  { client_id: 0, date: '2025-04-16', status: 'quote', total: '5.00' },
  { client_id: 0, date: '2025-04-30', status: 'invoice', total: '1.10', system_id: 8 },
  { client_id: 0, date: '0000-00-00', status: 'cancelled', total: '3.00' },
];

const PURCHASES = [
  { currency: 'CAD', total: '100.00' },
  { currency: 'CAD', total: '10.00', date: '2025-04-01' },
  { currency: 'USD', total: '1.00', date: '2025-02-01' },
  { currency: '', total: '0.10' },
  { currency: 'CAD', total: '0.01', system_id: 8 },
];

async function shop(database: (typeof DATABASES)[number]): Promise<Session> {
  const { world, ...service } = await sandbox({ size: 10 });
  for (const id of world.ids('sales')) world.remove('sales', id);
  for (const id of world.ids('sales_payments')) world.remove('sales_payments', id);
  for (const sale of SALES) world.insert('sales', { system_id: 7, ...sale });
  for (const id of world.ids('purchases')) world.remove('purchases', id);
  for (const purchase of PURCHASES)
    world.insert('purchases', { date: '2025-03-31', status: 'received', system_id: 7, ...purchase });
  const { session } = await mirrorIn(database);
  await migrate(session, SHOP_KINDS, { reports: CHOSEN });
  await read({ world, ...service }, [session], {
    instant: '2025-09-28T08:00:00Z',
    known: SHOP_KINDS,
    kinds: [],
  });
  return session;
}

test('notes are plain text: links and code are marked in the document alone', () => {
  const notes = listReports([], 'en').flatMap((report) => report.notes);
  expect(notes).toContain('Counts sales with a status of reports.sold.');
  expect(notes.filter((note) => /`|\]\(/.test(note))).toEqual([]);
});

test('a report names the kinds that it reads, in a mirror that reads the shop or not; one alone counts all kinds', () => {
  for (const kinds of [KINDS, SHOP_KINDS]) {
    const kindsOf = (text: string) => kindsOfViews(text.match(VIEW) ?? [], kinds, text);
    const ofAll = REPORTS.filter((report) => kindsOf(report.sql) === null).map(({ name }) => name);
    expect(ofAll).toEqual(['changes-by-day']);
    const named = kindsOf(findReport('purchases-by-provider')?.sql ?? '');
    const purchases = kinds === KINDS ? [] : ['purchases'];
    expect(named?.toSorted()).toEqual(['products', 'providers', 'purchase_products', ...purchases].sort());
  }
  expect(kindsOfViews(['bi_issues', 'bi_clients'], KINDS)).toBeNull();
});

describe.each(DATABASES)('%s', (database) => {
  test('a report counts the days asked for, adds up each company and currency, and names what is cut and left out', async () => {
    const session = await shop(database);
    const run = async (name: string, days: Partial<ReportRequest> = {}) =>
      runReport(session, await readViewNames(session), { name, language: 'en', ...days });
    const april = await run('sales-by-month', { from: '2025-04-01', to: '2025-04-15' });
    expect(april).toMatchObject({
      totals: [{ company: '7', sales: '2', total_exact: '99999999999999.9800' }],
      partial: ['2025-04'],
      wanted: [],
      remarks: [
        '1 row has no lines: not in its total.',
        'Left out, counted over all days: sales cancelled (1), sales quote (1).',
      ],
    });
    const all = await run('sales-by-month');
    expect(all.partial).toEqual([]);
    expect(all.totals).toMatchObject([
      { company: '7', sales: '3', total_exact: '199999999999999.9700' },
      { company: '8', sales: '1', total_exact: '1.1000' },
    ]);
    expect(all.columns.slice(0, 4)).toEqual(['month', 'company', 'branch', 'status']);
    expect(all.rows.map((row) => row.slice(0, 4))).toEqual([
      ['2025-03', '7', '0', 'sold'],
      ['2025-04', '7', '0', 'sold'],
      ['2025-04', '8', '0', 'sold'],
    ]);
    const { totals: bought } = await run('purchases-by-month', { from: '2025-03-01' });
    expect(bought.map((total) => [total['company'], total['currency'], total['total_exact']])).toEqual([
      ['7', 'CAD', '110.0000'],
      ['7', 'none', '0.1000'],
      ['8', 'CAD', '0.0100'],
    ]);
    const none = await run('sales-by-month', { from: '2031-01-01' });
    expect(none).toMatchObject({ columns: all.columns, rows: [], totals: [] });
    const owed = await run('receivables-by-age', { to: '2025-04-01' });
    expect(owed.totals).toMatchObject([{ company: '7', owed_exact: '199999999999999.9800' }]);
    const late = await run('receivables-by-age', { to: '2999-12-31' });
    expect(late.totals[0]?.['over_90_exact']).toBe(late.totals[0]?.['owed_exact']);

    await migrate(session, SHOP_KINDS, { reports: { ...CHOSEN, sold: null } });
    const apart = await run('sales-by-month', { from: '2025-04-01' });
    expect(apart.rows.map((row) => row[3])).toEqual(['invoice', 'quote', 'invoice']);
    expect(apart).toMatchObject({ totals: [], wanted: ['reports.sold'] });
  });

  test('a figure that lacks records or amounts says so, and one that counts no status that occurs is not added up', async () => {
    const { world, ...service } = await sandbox({ size: 10 });
    for (const id of world.ids('sales')) world.remove('sales', id);
    const sale = { client_id: null, status: 'quote', system_id: 7 };
    world.insert('sales', { ...sale, date: '2024-02-29', total: '100.00' });
    const { session } = await mirrorIn(database);
    await migrate(session, SHOP_KINDS, { reports: { ...CHOSEN, owed: ['quote'] } });
    const run = async (name: string, days: Partial<ReportRequest> = {}) =>
      runReport(session, await readViewNames(session), { name, language: 'en', ...days });
    expect((await run('sales-by-month')).remarks).toEqual([
      'Not proven complete: sales (never read), sales lines (never read). These figures may lack records.',
    ]);
    const reading = { known: SHOP_KINDS, kinds: [] };
    await read({ world, ...service }, [session], { ...reading, instant: '2025-09-28T08:00:00Z' });
    expect(await run('sales-by-month')).toMatchObject({ totals: [], wanted: ['reports.sold'] });
    for (const total of ['12.34567', 'soon']) world.insert('sales', { ...sale, date: '2025-02-10', total });
    await read({ world, ...service }, [session], {
      known: SHOP_KINDS,
      kinds: ['sales'],
      instant: '2025-09-28T09:00:00Z',
    });
    await migrate(session, SHOP_KINDS, { reports: { ...CHOSEN, sold: ['quote'] } });
    const february = await run('year-on-year', { from: '2025-02-01', to: '2025-02-28' });
    expect(february.totals).toMatchObject([{ total_exact: null, before_exact: '100.0000' }]);
    expect(february.remarks).toContain(
      'Over all days, bi_sales.total has 2 values that no sum counts: of more than four decimals, too large or unreadable.',
    );
  });

  test('what a head says of days and of what counts is what its SQL has', () => {
    for (const { name, sql: text, from, to, counts } of REPORTS) {
      const days = [...(from ? ['first'] : []), ...(to ? ['last'] : [])];
      expect(
        [...text.matchAll(/as text\) as (first|last)\b/g)].map(([, day]) => day),
        name,
      ).toEqual(days);
      const meanings = [...text.matchAll(/counts_as like '%(\w+)%'/g)].map(([, meaning]) => meaning);
      expect([...new Set(meanings)].sort(), name).toEqual(counts.toSorted());
    }
  });

  test('days that are none, in the wrong order, or of a report of the present are refused', async () => {
    const session = await shop(database);
    const views = await readViewNames(session);
    const run = (name: string, from?: string, to?: string) =>
      runReport(session, views, { name, from, to, language: 'en' });
    for (const [name, from, to] of [
      ['sales-by-month', '2025-02-29'],
      ['sales-by-month', undefined, "2025-02-28' or 1=1"],
      ['sales-by-month', '2025-03-01', '2025-02-28'],
      ['receivables-by-age', '2025-03-01'],
      ['duplicate-clients', undefined, '2025-03-01'],
    ] as const)
      await expect(run(name, from, to)).rejects.toMatchObject({ code: 'usage.days' });
    await expect(run('sales')).rejects.toMatchObject({ code: 'report.absent' });
    const other = await runReport(session, ['bi_clients'], {
      name: 'sales-by-month',
      language: 'en',
    }).catch((error: unknown) => error);
    expect(other).toMatchObject({ code: 'report.not_here' });
  });

  test('every report gives its rows in its own order, and by days only rows of these days', async () => {
    const session = await shop(database);
    const views = await readViewNames(session);
    for (const report of REPORTS) {
      const shipped = await session.query(sql.raw(report.sql));
      const { name } = report;
      const answer = await runReport(session, views, { name, language: 'en' });
      expect
        .soft(answer.rows, name)
        .toEqual(
          shipped.map((row) => Object.values(row).map((value) => (value === null ? null : String(value)))),
        );
      if (report.time === null || answer.rows.length === 0) continue;
      const at = answer.columns.indexOf(report.time);
      const days = { from: '2025-03-03', to: '2025-06-29' };
      const some = await runReport(session, views, { name, language: 'en', ...days });
      const isAsked = (time: string): boolean =>
        report.time === 'quarter'
          ? ['2025-Q1', '2025-Q2'].includes(time)
          : time >= days.from.slice(0, time.length) && time <= days.to;
      expect
        .soft(
          some.rows.map((row) => row[at] ?? '').filter((time) => !isAsked(time)),
          name,
        )
        .toEqual([]);
      if (report.time === 'quarter') expect(some.partial).toEqual(['2025-Q1', '2025-Q2']);
    }
  });
});
