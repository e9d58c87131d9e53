import { expect, test } from 'vitest';
import { compareList, type Finding } from '../../../src/features/verify/compare-list.ts';
import { clients } from '../../../src/catalog/kinds/clients.ts';
import { isListed } from '../../../src/catalog/kind.ts';
import type { Session } from '../../../src/db/session/session.ts';
import { mirror, pullFrom, sandbox } from '../../pull/support.ts';
import { TOKEN, open } from '../../source/open-source.ts';

if (!isListed(clients)) throw new Error('clients have a list');
const kind = clients;

/** The same session, read-only. */
const readOnly = (session: Session): Session => ({
  ...session,
  atomically: () => Promise.reject(new Error('an audit waits for no writer, and lets none wait')),
});

/** Compares a mirrored list of 230 records, or some of them; with the pages that it took. */
async function look(wanted: (ids: readonly number[]) => ReadonlySet<string> | null) {
  const service = await sandbox({ size: 230, token: TOKEN });
  const session = await mirror();
  await pullFrom(service, session);
  const { source } = open(service.url, { maxBodyBytes: 1e8 });
  const looked = { compared: new Set<string>(), quarantined: new Set<string>() };
  const pages: number[] = [];
  const onProgress = (progress: { pages: number }): unknown => pages.push(progress.pages);
  const parts = { session: readOnly(session), source, onProgress };
  const findings: Finding[] = [];
  const found = compareList(parts, kind, looked, wanted(service.world.ids('clients')));
  for await (const finding of found) findings.push(finding);
  return { ...looked, findings, pages };
}

test('reads outside of transactions, and every page once it is told of by the service', async () => {
  const { compared, quarantined, findings, pages } = await look(() => null);

  expect(findings).toEqual([]);
  expect(quarantined.size).toBe(0);
  expect(compared.size).toBe(230);
  expect(pages.length).toBeGreaterThanOrEqual(4); // Three with records, and an empty one.
});

test('of some records only, reads the list until it has shown them', async () => {
  const { compared, pages } = await look((ids) => new Set([String(ids[0])]));
  expect(compared.size).toBe(1);
  expect(pages.length).toBeLessThan(4);

  const absent = await look(() => new Set(['987654321']));
  expect(absent).toMatchObject({ compared: new Set(), findings: [] });
  expect(absent.pages.length).toBeGreaterThanOrEqual(4);
});
