import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startReceiver } from '../events/webhooks/receiver.ts';
import { axeFindings } from './axe.ts';
import { PAYLOADS } from './payloads.ts';
import { eventually, openStage, type BrowserStage } from './stage.ts';

let stage: BrowserStage;

beforeAll(async () => {
  stage = await openStage();
});

afterAll(async () => {
  await stage.close();
});

// prettier-ignore
const EVERY_PAGE = [
  '/', '/changes', '/kinds', '/kinds/clients', '/records/clients', '/runs', '/runs/1', '/outbox',
  '/outbox/1', '/plans', '/deletions', '/issues', '/webhooks', '/decisions', '/exports', '/reports/hours-by-technician-and-week', '/users', '/find?q=a',
];

// prettier-ignore
const SIGN_IN_AND_DEAD_ENDS = [
  '/login', '/nothing-here', '/runs/4711', '/records/clients/999999999', '/records/nothing', '/changes?kind=nothing',
];

const go = (page: Page, path: string) => page.goto(stage.dashboard.address + path);

const firstOf = (kind: string): number => stage.sandbox.world.ids(kind)[0] ?? 0;

/** What is on the page as a person reads it. */
const read = (page: Page): Promise<string> => page.locator('main').innerText();

test('a double click adds a user once, and shows the token', async () => {
  const page = await stage.signedIn();
  await go(page, '/users');
  await page.locator('form[action="/users"] input[name="name"]').fill('Double');
  await page.locator('form[action="/users"] button').dblclick();
  await page.locator('#token').waitFor();
  expect(await read(page)).toContain('Double was added');
  await page.context().close();
});

describe('signing in', () => {
  test('by the token comes back to the page that was asked for', async () => {
    const page = await (await stage.open()).newPage();
    const asked = await go(page, '/runs');
    expect(asked?.status()).toBe(401);
    await page.getByLabel('Your token').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'Unknown token.' }).waitFor(); // The page before has an alert, too.
    await page.getByLabel('Your token').fill(stage.token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL('**/runs');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Runs');
    await page.context().close();
  });

  test.each(['viewer', 'operator', 'admin'])(
    'as %s shows who one is and what one may do, until one signs out',
    async (role) => {
      const name = `Éloïse ${role}`;
      const { token } = await stage.api('/v1/users', { name, role });
      const page = await (await stage.open()).newPage();
      await go(page, '/kinds/clients');
      expect(await axeFindings(page)).toEqual([]);
      await page.getByLabel('Your token').fill(String(token));
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL('**/kinds/clients');
      expect(await page.locator('.person').innerText()).toContain(`${name} ${role}`);
      const pull = page.getByRole('button', { name: 'Pull now' });
      expect(await pull.count()).toBe(role === 'viewer' ? 0 : 1);
      if (role !== 'viewer') {
        await pull.click();
        await page.getByRole('status').filter({ hasText: 'Pull requested' }).waitFor();
        await go(page, '/decisions');
        const latest = page.getByRole('table', { name: 'Decisions' }).getByRole('row').nth(1);
        expect(await latest.innerText()).toMatch(
          new RegExp(`Pull\\s+clients\\s+${name} ${role}\\s+the dashboard`),
        );
      }
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.waitForURL('**/login');
      const again = await go(page, '/decisions');
      expect([again?.status(), await page.getByLabel('Your token').count()]).toEqual([401, 1]);
      await page.context().close();
    },
  );

  test('ends for an open page once the user is removed', async () => {
    const { token } = await stage.api('/v1/users', { name: 'Bob', role: 'viewer' });
    const page = await (await stage.open()).newPage();
    await go(page, '/');
    await page.getByLabel('Your token').fill(String(token));
    await page.keyboard.press('Enter');
    await page.locator('#live', { hasText: 'Live' }).waitFor();
    await stage.api('/v1/users/Bob/remove', {});
    stage.sandbox.world.update('clients', firstOf('clients'), { fax: '418 555 0100' });
    await stage.pull('clients');
    await page.locator('#live', { hasText: /Signed out|No connection/ }).waitFor();
    expect((await go(page, '/'))?.status()).toBe(401);
    await page.context().close();
  });

  test('by a link leaves no code in the address', async () => {
    const context = await stage.open();
    const page = await context.newPage();
    await page.goto(stage.dashboard.signInLink);
    expect(page.url()).toBe(`${stage.dashboard.address}/`);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Overview');
    await context.close();
  });

  test('holds for a link that was followed from another site', async () => {
    const page = await stage.signedIn();
    const link = `<a href="${stage.dashboard.address}/runs">here</a>`;
    await page.route('http://elsewhere.example/', (route) =>
      route.fulfill({ body: link, contentType: 'text/html' }),
    );
    await page.goto('http://elsewhere.example/');
    await page.getByRole('link', { name: 'here' }).click();
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    await page.context().close();
  });
});

/** The sizes of the page and of every file that it has loaded. */
const LOADED_BYTES = `['navigation', 'resource'].flatMap((type) => performance.getEntriesByType(type))
  .reduce((all, { decodedBodySize }) => all + decodedBodySize, 0)`;

test('after a pull the page tells how every kind stands, in at most 100 kB', async () => {
  const page = await stage.signedIn();
  const rows = page.getByRole('table', { name: 'Record kinds' }).getByRole('row');
  const rowTexts = await rows.allInnerTexts();
  for (const kind of ['clients', 'products', 'bookings']) {
    const line = rowTexts.find((text) => text.startsWith(kind)) ?? '';
    expect(line).toContain('certified');
    expect(line).toMatch(new RegExp(`\\b${stage.sandbox.world.count(kind)}\\b`));
    expect(line).toMatch(/next in \d+/);
  }
  expect(await page.evaluate<number>(LOADED_BYTES)).toBeLessThan(100_000);
  await page.context().close();
});

test('the page of a kind draws its changes and rows as larger plots, beside the tables of their numbers', async () => {
  const page = await stage.signedIn();
  await go(page, '/kinds/clients');
  await page.locator('#plot-changes canvas').waitFor();
  await page.locator('#plot-rows canvas').waitFor();
  await page.getByText('Rows in the list: as a table').click();
  const table = page.getByRole('table', { name: 'Rows in the list' });
  expect(await table.innerText()).toContain(String(stage.sandbox.world.count('clients')));
  await page.context().close();
});

describe('decisions by clicking', () => {
  test('a held deletion is approved, and proven by the next pulls', async () => {
    const { world } = stage.sandbox;
    for (const id of world.ids('providers').slice(0, 6)) world.remove('providers', id);
    await stage.pull('providers');
    await stage.pull('providers');
    const page = await stage.signedIn();
    const need = page.getByRole('listitem').filter({ hasText: '6 deletions of providers are held' });
    expect(await need.innerText()).toContain('once the service proves that it is gone');
    await need.getByText('Approve…').click();
    await need.getByRole('button', { name: 'Approve 6 deletions' }).click();
    expect(await page.getByRole('status').first().innerText()).toContain('Approved');
    expect(page.url()).toMatch(/\/$/);
    await stage.pull('providers');
    await stage.pull('providers');
    await go(page, '/changes?kind=providers');
    expect(await page.locator('.feed > li').filter({ hasText: 'deleted' }).count()).toBe(6);
    await page.context().close();
  });

  test('a parked create is adopted', async () => {
    const { sandbox, api } = stage;
    sandbox.setFaults([{ on: { kind: 'clients', method: 'POST' }, times: 1, do: { drop: 'before' } }]);
    const data = { code: 'TWIN-1', name: 'Garage Tremblay' };
    const { id } = await api('/v1/outbox', { operation: 'create', kind: 'clients', data }, 'twin');
    const stateOf = async (): Promise<unknown> => (await api(`/v1/outbox/${String(id)}`))['state'];
    await eventually(() => Promise.resolve(sandbox.requests.some(({ method }) => method === 'POST')));
    sandbox.world.insert('clients', { ...data, name: 'Garage Tremblay inc.' });
    await eventually(async () => (await stateOf()) === 'parked');
    const page = await stage.signedIn();
    await page.getByRole('link', { name: /^Entry \d+ is parked/ }).click();
    expect(await page.getByRole('table', { name: 'Fields to write' }).innerText()).toContain(
      'Garage Tremblay inc.',
    );
    await page.getByRole('button', { name: /^It is this one: TWIN-1/ }).click();
    expect(await page.getByRole('status').first().innerText()).toContain('Adopted');
    expect(await read(page)).toContain('done');
    expect(await stateOf()).toBe('done');
    await page.context().close();
  });

  test('a conflict shows three values side by side, and is settled by those of the entry', async () => {
    const { sandbox, api } = stage;
    const record = firstOf('clients');
    sandbox.world.update('clients', record, { city: 'Gaspé' });
    const update = { operation: 'update', kind: 'clients', id: String(record) };
    const wanted = { ...update, data: { city: 'Matane' }, base: { city: 'Rimouski' } };
    const { id } = await api('/v1/outbox', wanted, 'conflict');
    const stateOf = async (): Promise<unknown> => (await api(`/v1/outbox/${String(id)}`))['state'];
    await eventually(async () => (await stateOf()) === 'parked');
    const page = await stage.signedIn();
    await go(page, `/outbox/${String(id)}`);
    const values = page.getByRole('table', { name: 'Fields in doubt' }).getByRole('cell');
    expect(await values.allInnerTexts()).toEqual(['Rimouski', 'Gaspé', 'Matane']);
    expect(await axeFindings(page)).toEqual([]);
    await page.getByText('Send mine…').click();
    await page.getByRole('button', { name: 'Send mine' }).click();
    await eventually(async () => (await stateOf()) === 'done');
    expect(sandbox.world.get('clients', record)?.['city']).toBe('Matane');
    await page.context().close();
  });
});

test('a disabled endpoint is enabled, disabled and replayed by clicking', async () => {
  let status = 410;
  const receiver = await startReceiver(() => ({ status }));
  const { api, sandbox } = stage;
  await api('/v1/webhooks', { name: 'shop', url: receiver.url, kinds: ['products'] });
  sandbox.world.update('products', firstOf('products'), { name_fr: 'Winter tyre' });
  await stage.pull('products');
  await eventually(async () => JSON.stringify(await api('/v1/webhooks')).includes('"health":"disabled"'));
  const page = await stage.signedIn();
  const need = page.getByRole('listitem').filter({ hasText: 'The endpoint shop is disabled' });
  expect(await need.innerText()).toContain('It answered 410 Gone. 1 delivery waits for it.');
  status = 204;
  await need.getByRole('button', { name: 'Enable' }).click();
  expect(await page.getByRole('status').first().innerText()).toContain('Enabled');
  await receiver.took(1);
  await go(page, '/webhooks');
  await page.getByRole('button', { name: 'Disable the endpoint shop' }).click();
  expect(await page.getByRole('status').first().innerText()).toContain('Disabled');
  const line = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: /^shop/ }) });
  expect(await line.innerText()).toContain('disabled');
  sandbox.world.update('products', firstOf('products'), { name_fr: 'Summer tyre' });
  await stage.pull('products');
  await line.getByRole('button', { name: 'Replay' }).click();
  expect(await page.getByRole('status').first().innerText()).toContain('sent again.');
  await receiver.took(2);
  expect(receiver.taken.at(-1)?.body).toContain('Summer tyre');
  await page.context().close();
});

test('the feed updates itself, says so, and keeps what a person has opened and focused', async () => {
  const page = await stage.signedIn();
  await page.locator('#live', { hasText: 'Live' }).waitFor();
  const all = page.getByRole('link', { name: 'All changes' });
  await all.focus();
  const before = await page.evaluate<number>('performance.timeOrigin');
  stage.sandbox.world.update('clients', firstOf('clients'), { phone: '(418) 555-0100' });
  await stage.pull('clients');
  await page.locator('.feed > li.new', { hasText: '(418) 555-0100' }).waitFor();
  expect(await page.locator('#news').innerText()).toMatch(/New changes: \d/);
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('All changes');
  expect(await page.evaluate<number>('performance.timeOrigin')).toBe(before);
  await page.context().close();
});

test('without its script every page is as readable, and decides as well', async () => {
  const page = await stage.signedIn({ javaScriptEnabled: false });
  for (const path of EVERY_PAGE) {
    const answer = await go(page, path);
    expect([path, answer?.status()]).toEqual([path, 200]);
    expect((await read(page)).length).toBeGreaterThan(40);
  }
  await go(page, '/kinds/clients');
  expect(await page.locator('.spark, .plot table').first().count()).toBe(1);
  await page.getByRole('button', { name: 'Pull now' }).click();
  expect(await page.getByRole('status').first().innerText()).toContain('Pull requested');
  await page.context().close();
});

test('on a phone nothing is wider than the window, and every button is large enough', async () => {
  const page = await stage.signedIn({
    viewport: { width: 375, height: 740 },
    isMobile: true,
    hasTouch: true,
  });
  for (const path of EVERY_PAGE) {
    await go(page, path);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect([path, wide]).toEqual([path, 0]);
    const tall = await page.evaluate<number>('document.documentElement.scrollHeight');
    if (path !== '/') expect([path, tall > 3000]).toEqual([path, false]); // Four windows, however long its list.
    for (const button of await page.getByRole('button').all())
      expect((await button.boundingBox())?.height ?? 0).toBeGreaterThanOrEqual(40);
  }
  await page.context().close();
});

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

test('on a phone the menu shows each of its entries', async () => {
  const page = await stage.signedIn(PHONE);
  const entries = page.getByRole('navigation', { name: 'Parts of the dashboard' }).getByRole('link');
  const places = await Promise.all((await entries.all()).map((entry) => entry.boundingBox()));
  expect(places).toHaveLength(5);
  for (const place of places)
    expect((place?.x ?? -1) >= 0 && (place?.x ?? 0) + (place?.width ?? 0) <= 390).toBe(true);
  await page.getByRole('link', { name: 'Records', exact: true }).click();
  await page.getByRole('link', { name: 'purchase lines' }).click();
  await page.getByRole('heading', { name: 'Purchase lines' }).waitFor();
  await page.context().close();
});

/** How many lines of text each row has, its buttons left out. */
const LINES_OF_ROWS = `[...document.querySelectorAll('.cards:not(.items *) > tbody > tr, #changes .feed > li')].map((row) => {
  const texts = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  const middles = [];
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    if (text.data.trim() === '' || text.parentElement.closest('.unseen, .deciding') !== null) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    for (const { top, bottom } of range.getClientRects()) middles.push((top + bottom) / 2);
  }
  middles.sort((a, b) => a - b);
  return middles.filter((middle, index) => index === 0 || middle - middles[index - 1] > 8).length;
})`;

test('on a phone a list is a list: a row has three lines at most', async () => {
  const text = 'a text that is much longer than the window of a phone is wide';
  stage.sandbox.world.update('clients', firstOf('clients'), { name: text, city: text, fax: '1', email: '2' });
  await stage.pull('clients');
  const page = await stage.signedIn(PHONE);
  let rows = 0;
  for (const path of EVERY_PAGE) {
    await go(page, path);
    const lines = await page.evaluate<number[]>(LINES_OF_ROWS);
    expect([path, lines.filter((count) => count > 3)]).toEqual([path, []]);
    rows += lines.length;
  }
  expect(rows).toBeGreaterThan(50);
  await page.context().close();
});

/** Words of names that stand on two lines. */
const BROKEN_WORDS = `[...document.querySelectorAll('.field')].flatMap(({ firstChild: text }) =>
  [...text.data.matchAll(/\\S+/g)].filter(({ index, 0: word }) => {
    const range = document.createRange();
    range.setStart(text, index);
    range.setEnd(text, index + word.length);
    return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
  }).map(([word]) => word))`;

test.each([1280, 390])('no name of a field breaks within a word, %s pixels wide', async (width) => {
  const page = await stage.signedIn({ viewport: { width, height: 844 } });
  for (const kind of ['products', 'projects', 'clients', 'bookings']) {
    await go(page, `/records/${kind}/${firstOf(kind)}`);
    expect(await page.locator('.field').count()).toBeGreaterThan(5);
    expect([kind, await page.evaluate(BROKEN_WORDS)]).toEqual([kind, []]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  }
  await page.context().close();
});

test('with the keyboard alone a person reaches the content and each part', async () => {
  const page = await stage.signedIn();
  await page.keyboard.press('Tab');
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Skip to content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate<string>('document.activeElement.id')).toBe('main');
  for (const [part, address] of [
    ['Work', '/plans'],
    ['Outbox', '/outbox'],
  ] as const) {
    await page.getByRole('link', { name: part, exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`**${address}`);
  }
  await page.context().close();
});

const SHAPES = (['light', 'dark'] as const).flatMap((colorScheme) =>
  ['en-CA', 'fr-CA'].flatMap((locale) => [
    { colorScheme, locale, viewport: { width: 1280, height: 900 } },
    { colorScheme, locale, ...PHONE },
  ]),
);

test.each(SHAPES)('axe finds nothing on any page: %o', { timeout: 180_000 }, async (options) => {
  const page = await stage.signedIn(options);
  const record = `/records/projects/${firstOf('projects')}`;
  for (const path of [
    ...EVERY_PAGE,
    ...SIGN_IN_AND_DEAD_ENDS,
    `/records/clients/${firstOf('clients')}`,
    record,
  ]) {
    await go(page, path);
    expect([path, await axeFindings(page)]).toEqual([path, []]);
  }
  await page.context().close();
});

const HIDDEN_OF_MENU = `[document.querySelector('.top nav')].map((menu) => menu.scrollWidth - menu.clientWidth)[0]`;

test.each([PHONE, { viewport: { width: 1280, height: 900 } }])(
  'the switch turns every page French, and back: %o',
  async (options) => {
    const page = await stage.signedIn(options);
    await go(page, '/changes?kind=clients');
    expect(await page.evaluate(HIDDEN_OF_MENU)).toBe(0);
    await page.getByRole('button', { name: 'Français' }).click();
    expect(page.url()).toBe(`${stage.dashboard.address}/changes?kind=clients`);
    await page.locator('#live', { hasText: 'En direct' }).waitFor();
    for (const path of EVERY_PAGE) {
      await go(page, path);
      expect(await page.evaluate<string>('document.documentElement.lang')).toBe('fr');
      expect([path, await axeFindings(page)]).toEqual([path, []]);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      expect([path, await page.evaluate(HIDDEN_OF_MENU)]).toEqual([path, 0]);
    }
    await go(page, '/decisions');
    await page.getByRole('button', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Decisions' }).waitFor();
    await page.context().close();
  },
);

test('60 texts that would do harm as markup are text on every page, also when they arrive by themselves', async () => {
  expect(PAYLOADS).toHaveLength(60);
  const { world } = stage.sandbox;
  const page = await stage.signedIn();
  const harm: string[] = [];
  page.on('dialog', (dialog) => {
    harm.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(stage.dashboard.address)) harm.push(`request: ${request.url()}`);
  });
  page.on('console', (message) => {
    if (message.type() === 'error') harm.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => harm.push(`error: ${error.message}`));
  await page.locator('#live', { hasText: 'Live' }).waitFor();
  const inserted = PAYLOADS.map((text) => world.insert('clients', { code: text, name: text, phone: text }));
  const ids = inserted.map((record) => Number(record['id']));
  await stage.pull('clients');
  await page.locator('.feed > li.new').first().waitFor();
  const next = (index: number): string => PAYLOADS[(index + 1) % PAYLOADS.length] ?? '';
  for (const [index, id] of ids.entries())
    world.update('clients', id, { name: next(index), phone: next(index) });
  await stage.pull('clients');
  const paths = [
    '/',
    '/changes',
    '/changes?kind=clients',
    '/kinds/clients',
    '/records/clients',
    '/issues',
    '/outbox',
    ...ids.slice(0, 34).map((id) => `/records/clients/${id}`),
  ];
  for (const path of paths) {
    const answer = await go(page, path);
    expect([path, answer?.status()]).toEqual([path, 200]);
    expect(await page.title()).not.toBe('taken');
  }
  const shown = new Set<string>();
  for (let path: string | null = '/changes?kind=clients'; path !== null;) {
    await go(page, path);
    for (const name of await page.locator('.feed .name').allTextContents()) shown.add(name);
    path = await page
      .getByRole('link', { name: 'Older' })
      .getAttribute('href', { timeout: 500 })
      .catch(() => null);
  }
  const onPage = PAYLOADS.map((text) => text.replace(/\r\n?/g, '\n')); // As every parser of HTML reads line ends.
  const missing = onPage.filter((text) => ![...shown].some((name) => name.startsWith(text)));
  expect(missing).toEqual([]);
  expect(harm).toEqual([]);
  await page.context().close();
});
