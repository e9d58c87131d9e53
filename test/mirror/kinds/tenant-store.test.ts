import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { KINDS } from '../../../src/catalog/catalog.ts';
import { migrate } from '../../../src/mirror/shape/migrate.ts';
import { namesCompany, readTenants } from '../../../src/mirror/kinds/tenant-store.ts';
import { DATABASES, MIRRORS } from '../../pull/steps.ts';
import { pullFrom, sandbox } from '../../pull/support.ts';
import { kindNamed } from '../temp-mirror.ts';

test('kinds whose records are documented with their company name it', () => {
  const named = KINDS.filter(({ fields }) => fields.some(({ name }) => name === 'system_id'));
  expect(KINDS.filter(namesCompany)).toEqual(named);
  expect(named.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['purchase_products', 'punches', 'departments']),
  );
});

test.each(DATABASES)(
  'a mirror of the release before, in %s: the companies of a kind are those that its live rows name',
  async (database) => {
    const [service, session] = [
      await sandbox({ companies: { departments: 99217, punches: 999999 } }),
      await MIRRORS[database](),
    ];
    await pullFrom(service, session);
    await session.atomically(async (tx) => {
      await tx.query(sql`update kind_state set system_ids = null`);
      await tx.query(sql`insert into mirror_meta (key, value) values ('source.system_id', '7')`);
      await tx.query(sql`update mirror_meta set value = '3' where key = 'version'`);
    });
    await migrate(session, KINDS);

    for (const [kind, company] of [
      ['departments', '99217'],
      ['punches', '999999'],
      ['purchase_products', '7'],
    ] as const)
      expect(await readTenants(session, kindNamed(kind), false)).toMatchObject({
        ...{ companies: new Set([company]), saved: 0, isLearning: false },
      });
    expect(await readTenants(session, kindNamed('clients'), false)).toMatchObject({ isLearning: true });

    const theirs = await sandbox({ systemId: 8 });
    await expect(pullFrom(theirs, session, { request: { baseUrl: service.url } })).rejects.toThrow(
      /company 8.*company (7|99217|999999)/,
    );
    await pullFrom(service, session);
    expect(await readTenants(session, kindNamed('departments'), false)).toMatchObject({ saved: 1 });
  },
);
