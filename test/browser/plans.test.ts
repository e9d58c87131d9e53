import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession } from '../../src/db/open-session.ts';
import { compactJson } from '../../src/lib/json/json.ts';
import { formatInstant } from '../../src/lib/time/clock.ts';
import { insertPlan } from '../../src/features/plans/store.ts';
import { axeFindings } from './axe.ts';
import { openStage, type BrowserStage } from './stage.ts';

const ROWS = 55; // More than a page shows.

let stage: BrowserStage;

beforeAll(async () => {
  let url = '';
  const before = (_: unknown, config: { readonly database: { readonly url: string } }): Promise<void> => {
    ({ url } = config.database);
    return Promise.resolve();
  };
  stage = await openStage({ approvals: 1, before });
  const ids = stage.sandbox.world.ids('clients').slice(0, ROWS);
  const rows = ids.map((id, index) => {
    const old = stage.sandbox.world.get('clients', id)?.['city'] ?? null;
    const cells = compactJson([{ field: 'city', old, new: `Gaspé ${index}` }]);
    return { position: index + 2, operation: 'update', recordId: String(id), cells, refusal: null } as const;
  });
  const refused = {
    position: 999,
    operation: 'update',
    recordId: '1',
    cells: '[]',
    refusal: 'it is gone',
  } as const;
  await using session = await openSession(url);
  const plan = {
    kind: 'clients',
    origin: 'clients.xlsx',
    createdBy: 'Ada',
    createdAt: formatInstant(new Date()),
  };
  await session.atomically((tx) => insertPlan(tx, plan, [...rows, refused]));
});

afterAll(async () => {
  await stage.close();
});

const go = (page: Page, path: string) => page.goto(stage.dashboard.address + path);

/** Signs in with a token of one's own. */
async function signedIn(name: string, role: string, path: string): Promise<Page> {
  const { token } = await stage.api('/v1/users', { name, role });
  const page = await (await stage.open()).newPage();
  await go(page, path);
  await page.getByLabel('Your token').fill(String(token));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`**${path}`);
  return page;
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL('**/login');
  await page.context().close();
}

test('a viewer finds a record, and looks at a plan without a button, row after row', async () => {
  const page = await signedIn('Vera', 'viewer', '/');
  const [id = 0] = stage.sandbox.world.ids('clients');
  await page.getByRole('searchbox', { name: 'Find a record' }).fill(String(id));
  await page.keyboard.press('Enter');
  await page.locator(`main a[href="/records/clients/${id}"]`).first().click();
  await page.waitForURL(`**/records/clients/${id}`);
  await page.getByRole('link', { name: 'Work', exact: true }).click();
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('link', { name: '1', exact: true }).click();
  await page.getByRole('heading', { name: 'Plan 1' }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  expect(await page.locator('main').getByRole('button').count()).toBe(0);
  expect(await page.getByRole('table', { name: 'Rows of the plan' }).getByRole('row').count()).toBe(21);
  await page.getByRole('link', { name: 'Next', exact: true }).click();
  await page.locator('#refused', { hasText: 'it is gone' }).waitFor();
  await signOut(page);
});

test('an operator approves and applies what somebody else has planned, and sees how far it is', async () => {
  const page = await signedIn('Olga', 'operator', '/');
  await page.getByRole('link', { name: 'Plan 1 waits for approval' }).click();
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('status').filter({ hasText: 'Approved: the plan can be applied.' }).waitFor();
  expect(await page.locator('main').innerText()).toContain('Olga');
  await page.locator('summary', { hasText: 'Apply' }).click();
  await page.getByText(`${ROWS} records will be changed. Continue?`).waitFor();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('status').filter({ hasText: 'Applied: its rows are in the outbox.' }).waitFor();
  await page.locator('#plan .path li', { hasText: new RegExp(`${ROWS}\\s*done`) }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'one line per cell, as CSV' }).click(),
  ]);
  expect(download.suggestedFilename()).toBe('plan-1.csv');
  await signOut(page);
});

test('an admin plans the way back, and reads who has pushed a change', async () => {
  const page = await signedIn('Anna', 'admin', '/plans/1');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.waitForURL('**/plans/2*');
  await page.getByRole('status').filter({ hasText: 'This plan undoes the earlier one' }).waitFor();
  expect(await page.locator('main').getByRole('button').count()).toBe(0); // Another person approves.
  const [id = 0] = stage.sandbox.world.ids('clients');
  await go(page, `/records/clients/${id}`);
  await page.getByRole('link', { name: 'by entry 1 of Olga' }).click();
  await page.waitForURL('**/outbox/1');
  expect(await page.locator('main').innerText()).toMatch(/Pushed by\s+Olga/);
  await signOut(page);
});
