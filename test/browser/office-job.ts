import { expect } from 'vitest';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { axeFindings } from './axe.ts';
import type { BrowserStage } from './stage.ts';

export const PHONE = { viewport: { width: 390, height: 844 } };
/** Rows whose phone number is corrected. */
export const ROWS = 40;
export const PHONES = Array.from({ length: ROWS }, (_, index) => `418 555-${1000 + index}`);

// cspell:disable -- French.
/** What the pages are called; the rest of the job is the same. */
export const WORDS = {
  en: {
    sign: 'Sign in',
    token: 'Your token',
    name: 'name',
    role: 'role',
    add: 'Add',
    csv: 'CSV',
    book: 'Workbook',
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
    csv: 'CSV',
    book: 'Classeur',
    choose: 'Classeur ou CSV, 10 Mo au plus',
    plan: 'Voir ce qui changerait',
    approve: 'Approuver',
    apply: 'Appliquer',
    undo: 'Défaire',
    done: 'terminées',
  },
} as const;
// cspell:enable

export type Words = (typeof WORDS)[keyof typeof WORDS];

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
  const token = await page.locator('#token-text').inputValue();
  expect(await axeFindings(page)).toEqual([]);
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

/** Clicks the link of a file on the page of a kind; returns its bytes. */
export async function download(page: Page, stage: BrowserStage, link: string): Promise<Buffer> {
  await page.goto(`${stage.dashboard.address}/kinds/clients`);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: link, exact: true }).click(),
  ]);
  const chunks: Buffer[] = [];
  for await (const chunk of await file.createReadStream()) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}

/** A file that a person chooses. */
interface EditedFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

/**
 * Does the job of the office: an admin adds an operator and a viewer; the operator exports, edits and uploads; the admin approves;
 * the operator applies and undoes.
 */
export async function correctPhones(
  stage: BrowserStage,
  words: Words,
  options: BrowserContextOptions,
  edited: (page: Page) => Promise<EditedFile>,
): Promise<void> {
  const admin = await stage.signedIn(options);
  const operator = await addUser(admin, stage, words, 'Olga', 'operator');
  const viewer = await addUser(admin, stage, words, 'Vera', 'viewer');

  const looking = await signIn(stage, words, options, viewer);
  await looking.goto(`${stage.dashboard.address}/plans`);
  expect(await looking.locator('input[type=file]').count()).toBe(0);

  const page = await signIn(stage, words, options, operator);
  const file = await edited(page);
  await page.goto(`${stage.dashboard.address}/plans`);
  expect(await axeFindings(page)).toEqual([]);
  await page.getByLabel(words.choose).setInputFiles(file);
  await page.getByRole('button', { name: words.plan }).click();
  await page.waitForURL('**/plans/1');
  expect(await page.getByRole('button', { name: words.approve }).count()).toBe(0); // Another person approves.

  const before = phonesOf(stage);
  await approveAndApply(stage, { admin, page, words }, 1);
  expect(
    phonesOf(stage)
      .filter((phone) => PHONES.includes(String(phone)))
      .toSorted(),
  ).toEqual(PHONES);
  await page.getByRole('button', { name: words.undo }).click();
  await page.waitForURL('**/plans/2*');
  await page.locator('#rows del', { hasText: PHONES[0] ?? '' }).waitFor();
  await approveAndApply(stage, { admin, page, words }, 2);
  expect(phonesOf(stage)).toEqual(before);
}

/** The phone numbers that the service has. */
const phonesOf = ({ sandbox: { world } }: BrowserStage): readonly unknown[] =>
  world.ids('clients').map((id) => world.get('clients', id)?.['phone'] ?? null);

interface Office {
  readonly admin: Page;
  /** Of the operator. */
  readonly page: Page;
  readonly words: Words;
}

/** One person approves a plan, another one applies it and waits for its end. */
async function approveAndApply(
  stage: BrowserStage,
  { admin, page, words }: Office,
  plan: number,
): Promise<void> {
  await admin.goto(`${stage.dashboard.address}/plans/${plan}`);
  await admin.getByRole('button', { name: words.approve }).click();
  await admin.waitForURL(`**/plans/${plan}?*`);
  await page.reload();
  await page.locator('summary', { hasText: words.apply }).click();
  await page.getByRole('button', { name: words.apply }).click();
  await page.locator('#plan .path li', { hasText: new RegExp(`^\\s*${ROWS}\\s*${words.done}`) }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
}
