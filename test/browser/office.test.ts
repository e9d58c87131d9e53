import type { BrowserContextOptions, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { freshDatabaseUrl } from '../support/postgres.ts';
import { seriousRemarks } from './axe.ts';
import { openStage, type BrowserStage } from './stage.ts';

const PHONE = { viewport: { width: 390, height: 844 } };
const ROWS = 40;

// cspell:disable -- French.
/** What the pages are called; the rest of the job is the same. */
const WORDS = {
  en: {
    sign: 'Sign in',
    token: 'Your token',
    name: 'name',
    role: 'role',
    add: 'Add',
    shown: 'Token',
    file: 'CSV',
    choose: 'Workbook or CSV, 10 MB at most',
    plan: 'Show what would change',
    approve: 'Approve',
    apply: 'Apply',
    undo: 'Undo',
    done: 'done',
  },
  fr: {
    sign: 'Se connecter',
    token: 'Votre jeton',
    name: 'nom',
    role: 'rôle',
    add: 'Ajouter',
    shown: 'Jeton',
    file: 'CSV',
    choose: 'Classeur ou CSV, 10 Mo au plus',
    plan: 'Voir ce qui changerait',
    approve: 'Approuver',
    apply: 'Appliquer',
    undo: 'Annuler',
    done: 'terminée',
  },
} as const;
// cspell:enable

type Words = (typeof WORDS)[keyof typeof WORDS];

/** Adds a user on the page of an admin, and returns the token that it shows. */
async function addUser(
  page: Page,
  stage: BrowserStage,
  words: Words,
  name: string,
  role: string,
): Promise<string> {
  await page.goto(`${stage.dashboard.address}/users`);
  const form = page.locator('form[action="/users"]');
  await form.getByLabel(words.name).fill(name);
  await form.getByLabel(words.role).selectOption(role);
  await form.getByRole('button', { name: words.add }).click();
  const token = await page.getByLabel(words.shown, { exact: true }).inputValue();
  expect(await seriousRemarks(page)).toEqual([]);
  return token;
}

async function signIn(
  stage: BrowserStage,
  words: Words,
  options: BrowserContextOptions,
  token: string,
): Promise<Page> {
  const page = await (await stage.open(options)).newPage();
  await page.goto(`${stage.dashboard.address}/login`);
  await page.getByLabel(words.token).fill(token);
  await page.getByRole('button', { name: words.sign }).click();
  await page.waitForURL(`${stage.dashboard.address}/`);
  return page;
}

/** The exported file, with other phone numbers in its first rows. */
async function correctedExport(page: Page, stage: BrowserStage, words: Words): Promise<string> {
  await page.goto(`${stage.dashboard.address}/kinds/clients`);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: words.file, exact: true }).click(),
  ]);
  const stream = await download.createReadStream();
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  const [head = '', ...rows] = text.split('\r\n');
  const separator = head.includes(';') ? ';' : ',';
  const phone = head.split(separator).indexOf('phone');
  const edited = rows.map((row, index) => {
    const cells = row.split(separator);
    if (index < ROWS) cells[phone] = `418 555-${String(1000 + index)}`;
    return cells.join(separator);
  });
  return [head, ...edited].join('\r\n');
}

describe.each([
  ['SQLite', 'en', 'wide', {}],
  ['PostgreSQL', 'fr', 'on a phone', PHONE],
] as const)('the office, over a mirror in %s, in %s, %s', (database, language, _size, shape) => {
  test('adds users, corrects forty phone numbers by a spreadsheet, and takes them back', async () => {
    const words = WORDS[language];
    const url = database === 'SQLite' ? {} : { database: await freshDatabaseUrl() };
    const stage = await openStage({ size: 60, approvals: 1, ...url });
    const options = { ...shape, locale: `${language}-CA`, acceptDownloads: true };
    const admin = await stage.signedIn(options);
    const operator = await addUser(admin, stage, words, 'Olga', 'operator');
    const viewer = await addUser(admin, stage, words, 'Vera', 'viewer');

    const looking = await signIn(stage, words, options, viewer);
    await looking.goto(`${stage.dashboard.address}/plans`);
    expect(await looking.locator('input[type=file]').count()).toBe(0);

    const page = await signIn(stage, words, options, operator);
    const text = await correctedExport(page, stage, words);
    await page.goto(`${stage.dashboard.address}/plans`);
    expect(await seriousRemarks(page)).toEqual([]);
    const file = { name: 'phones.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
    await page.getByLabel(words.choose).setInputFiles(file);
    await page.getByRole('button', { name: words.plan }).click();
    await page.waitForURL('**/plans/1');
    expect(await page.getByRole('button', { name: words.approve }).count()).toBe(0); // Another person approves.

    await admin.goto(`${stage.dashboard.address}/plans/1`);
    await admin.getByRole('button', { name: words.approve }).click();
    await admin.waitForURL('**/plans/1*');
    await page.reload();
    await page.locator('summary', { hasText: words.apply }).click();
    await page.getByRole('button', { name: words.apply }).click();
    await page.locator('#plan .tiles li', { hasText: new RegExp(`^\\s*${ROWS}\\s*${words.done}`) }).waitFor();
    await page.getByRole('button', { name: words.undo }).click();
    await page.waitForURL('**/plans/2*');
    await page.locator('#rows del', { hasText: '418 555-1000' }).waitFor();
    await stage.close();
  });
});
