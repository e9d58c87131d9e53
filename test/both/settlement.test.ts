import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSession } from '../../src/db/open-session.ts';
import { parseJson } from '../../src/lib/json/json.ts';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { listEntries } from '../../src/store/outbox/outbox-store.ts';
import { THIS_RELEASE, migrate, type Release } from '../../src/views/migrate.ts';
import { FRESH_DATABASES } from '../support/fresh-databases.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** The release that kept the state of an entry among its result. */
function releaseBefore(): Release {
  const migrations = join(tempFolder(), 'migrations');
  cpSync(THIS_RELEASE.migrations, migrations, { recursive: true });
  for (const dialect of ['sqlite', 'postgres']) {
    const path = join(migrations, dialect, 'meta/_journal.json');
    const journal = JSON.parse(readFileSync(path, 'utf8')) as { entries: { tag: string }[] };
    const at = journal.entries.findIndex(({ tag }) => tag.endsWith('_settlement'));
    writeFileSync(path, JSON.stringify({ ...journal, entries: journal.entries.slice(0, at) }));
  }
  return { version: THIS_RELEASE.version - 1, name: 'before', migrations };
}

const SEARCH = { due: 4166.666, run: 4 };
const AWAITS = { since: '2026-01-01 12:00:00.000', why: 'it was never read', records: ['7'] };
const UNPROVEN = { alsoChanged: ['fax'], unproven: ['name'] };

/** State, operation and result as they were, and as they are now. */
const ENTRIES = [
  ['unsettled', 'create', { ids: ['7'], search: SEARCH, awaits: AWAITS, isAskedFor: true }, 'moved'],
  ['ready', 'create', { awaits: { ...AWAITS, run: 2 } }, 'moved'],
  ['ready', 'update', { goneSince: '2026-01-01 12:00:00.000', failedReads: 2 }, 'moved'],
  ['sending', 'update', null, 'moved'],
  ['parked', 'create', { ids: ['7'], barring: ['8'], hasUnreadable: true }, 'copied'],
  ['parked', 'update', { conflicts: [{ field: 'name' }] }, 'kept'],
  ['done', 'update', UNPROVEN, { unproven: ['name'] }],
  ['rejected', 'create', { status: 422, answer: 'no' }, 'kept'],
] as const;

describe.each(FRESH_DATABASES)('a mirror of the release before on %s', (_name, address) => {
  test('keeps what its open entries know, apart from their results', async () => {
    const session = await openSession(await address());
    onTestFinished(() => session.close());
    await migrate(session, KINDS, { release: releaseBefore() });
    await session.atomically(async (tx) => {
      for (const [n, [state, operation, result]] of ENTRIES.entries())
        await tx.query(sql`
          insert into outbox (idempotency_key, kind, operation, payload, state, result)
          values (${`k${n}`}, 'clients', ${operation}, '{}', ${state}, ${result === null ? null : JSON.stringify(result)})`);
    });

    await migrate(session, KINDS);

    const states = ['ready', 'sending', 'unsettled', 'parked', 'done', 'rejected'] as const;
    const entries = (await listEntries(session, states, 100)).reverse();
    expect(entries.map(({ settlement, result }) => [settlement, parseJson(result ?? 'null')])).toEqual(
      ENTRIES.map(([, , result, what]) => {
        if (what === 'moved') return [result ?? {}, null];
        if (what === 'kept') return [{}, result];
        return [what === 'copied' ? result : what, result];
      }),
    );
  });
});
