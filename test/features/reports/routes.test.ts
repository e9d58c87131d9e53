import { expect, test } from 'vitest';
import { liveThrough } from '../../../scripts/reports/business.ts';
import { findReport } from '../../../src/features/reports/read-reports.ts';
import { mirrorIn } from '../../events/support.ts';
import { jsonOf, serveMirror } from '../../http/stage.ts';
import { sandbox } from '../../pull/support.ts';
import { DATABASES, ONE_DATABASE } from '../../store/databases.ts';

test.each(DATABASES)(
  'the reports of a mirror in %s are listed, and given as a document or a file',
  async (_name, open) => {
    const { get } = await serveMirror(await open());
    const listed = (await jsonOf(await get('/v1/reports'))) as { reports: { name: string }[] };
    expect(listed.reports).toContainEqual(
      expect.objectContaining({
        name: 'receivables-by-age',
        from: false,
        to: true,
        missing: expect.any(String) as string,
      }),
    );
    const answer = await get('/v1/reports/changes-by-day?from=2025-01-01&to=2025-01-15');
    expect(await jsonOf(answer)).toMatchObject({
      name: 'changes-by-day',
      rows: [],
      totals: [],
      partial: [],
    });
    const file = await get('/v1/reports/changes-by-day?from=&to=&format=csv');
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="changes-by-day.csv"');
    expect(await file.text()).toContain('day,created,updated');
    expect(file.headers.get('bms-sync-remark')).toMatch(/^Not proven complete: /);
    const french = await get('/v1/reports/changes-by-day?format=csv', { 'accept-language': 'fr' });
    expect(decodeURI(french.headers.get('bms-sync-remark') ?? '')).toContain('é');
    expect((await get('/v1/reports/changes-by-day?from=2025-02-30')).status).toBe(400);
    expect((await get('/v1/reports/changes-by-day?from=2025-02-02&to=2025-02-01')).status).toBe(400);
    expect((await get('/v1/reports/changes')).status).toBe(404);
  },
);

test.each(ONE_DATABASE)(
  'a report of a mirror in %s has a page, with its days, its files and what must be known of it',
  async (_name, open) => {
    const { get } = await serveMirror(await open());
    const page = async (path: string): Promise<string> =>
      (await (await get(path)).text()).replaceAll(/\s+/g, ' ');
    expect(await page('/exports')).toContain('<a href="/reports/changes-by-day">');
    const report = await page('/reports/changes-by-day?from=2025-01-01&to=2025-01-15');
    expect(report).toMatch(/name="from" value="2025-01-01".*formaction="\/v1\/reports\/changes-by-day"/);
    expect(report).toMatch(/Not proven complete: .*<th scope="col"[^>]*> ?day/);
    expect(await page('/reports/changes-by-day?from=2025-02-30')).toContain('is not a day');
  },
);

test('a report is French for its readers: notes, headings and days; so is what this mirror lacks for it', async () => {
  const { session } = await mirrorIn('SQLite');
  await liveThrough(await sandbox({ size: 60 }), [session], 2);
  const { get } = await serveMirror(session);
  const page = async (name: string, language: string): Promise<string> =>
    (await (await get(`/reports/${name}`, { 'accept-language': language })).text()).replaceAll(/\s+/g, ' ');
  const changes = await page('changes-by-day', 'fr');
  for (const note of findReport('changes-by-day')?.inFrench.notes ?? [])
    expect(changes).toContain(
      `<li>${note.replaceAll(/`(.*?)`/g, '<code>$1</code>').replaceAll(/\s+/g, ' ')}</li>`,
    );
  expect(changes).toMatch(/<th scope="row">\d+ [a-zé]+\.? 20\d\d<\/th>/); // In the plot.
  expect(changes).toMatch(/data-title="jour" *> *\d+ [a-zé]+\.? 20\d\d *</);
  expect(await page('changes-by-day', 'en')).toMatch(/<th scope="row">[A-Z][a-z]+\.? \d+, 20\d\d<\/th>/);
  expect(await page('receivables-by-client', 'fr')).toMatch(/>code(?:<\/span>)?, nom *<\/th>/);
  const refused = await page('sales-by-month', 'fr');
  expect(refused).toContain(`${findReport('sales-by-month')?.inFrench.title ?? ''} : `);
  expect(refused).not.toContain('needs sales');
});
