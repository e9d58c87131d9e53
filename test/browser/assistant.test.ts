import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually, openStage, type BrowserStage } from './stage.ts';

let stage: BrowserStage;

beforeAll(async () => {
  stage = await openStage({ approvals: 1 });
});

afterAll(async () => {
  await stage.close();
});

const addUser = async (name: string, role: string): Promise<string> =>
  String((await stage.api('/v1/users', { name, role }))['token']);

/** The assistant of a user. */
async function assistantOf(token: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL('/mcp', stage.dashboard.address), { requestInit }),
  );
  return client;
}

/** Opens a page as a user. */
async function openAs(token: string, path: string): Promise<Page> {
  const page = await (await stage.open()).newPage();
  await page.goto(stage.dashboard.address + path);
  await page.getByLabel('Your token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`**${path}`);
  return page;
}

/** Approves and applies the plan of a page, and waits until the service has it. */
async function approveAndApply(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Approve' }).click();
  await page.getByRole('status').filter({ hasText: 'Approved' }).waitFor();
  await page.locator('summary', { hasText: 'Apply' }).click();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.locator('#plan .path li', { hasText: /1\s*done/ }).waitFor();
}

const buttonsOf = (page: Page): Promise<number> => page.locator('main').getByRole('button').count();

test('what an assistant proposes is applied by a person, and taken back', async () => {
  const vera = await addUser('Vera', 'viewer');
  const otto = await addUser('Otto', 'operator');
  const olga = await addUser('Olga', 'operator');
  const { world } = stage.sandbox;
  const [id = 0] = world.ids('clients');
  const nameOf = () => world.get('clients', id)?.['name'];
  const before = nameOf();
  const proposal = {
    name: 'propose',
    arguments: { kind: 'clients', changes: [{ id: String(id), set: { name: 'Proposed' } }] },
  };
  const entries = async () => (await stage.api('/v1/outbox'))['entries'];

  const viewer = await assistantOf(vera);
  await expect(viewer.callTool(proposal)).rejects.toThrow();
  const assistant = await assistantOf(otto);
  expect(await assistant.callTool(proposal)).toMatchObject({ structuredContent: { page: '/plans/1' } });
  await Promise.all([viewer.close(), assistant.close()]);
  expect(await entries()).toEqual([]);

  for (const token of [vera, otto]) {
    const page = await openAs(token, '/plans/1');
    await page.getByText('Proposed').first().waitFor();
    expect(await buttonsOf(page)).toBe(0); // A viewer decides nothing, and nobody approves a plan of one's own.
  }
  expect([nameOf(), await entries()]).toEqual([before, []]);

  const page = await openAs(olga, '/plans/1');
  await approveAndApply(page);
  expect(nameOf()).toBe('Proposed');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.waitForURL('**/plans/2*');
  expect(await buttonsOf(page)).toBe(0);
  await approveAndApply(await openAs(otto, '/plans/2'));
  await eventually(() => Promise.resolve(nameOf() === before));
});
