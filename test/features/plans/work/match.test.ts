import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { KINDS } from '../../../../src/catalog/kinds/catalog.ts';
import { applyPlan } from '../../../../src/features/plans/work/apply-plan.ts';
import { makePlan } from '../../../../src/features/plans/work/make-plan.ts';
import { showPlan } from '../../../../src/features/plans/work/plan-document.ts';
import { readSheet } from '../../../../src/features/plans/sheet/read-sheet.ts';
import { saveAbsences } from '../../../../src/store/records/deletion-store.ts';
import { ONE_DATABASE, type DATABASES } from '../../../pull/steps.ts';
import { NOON, thrownBy } from '../../../store/temp-mirror.ts';
import { opened, type Stage } from '../../../outbound/stage.ts';
import { decided, planTexts } from './support.ts';

const CODES = ['A-1', '000123', '77', '077', 'Dé  jà', 'Two', 'Two', 'Held', 'abc'];

async function scene(database: (typeof DATABASES)[number]) {
  const on = await opened({ database, pulled: [] });
  const ids = CODES.map((code) =>
    String(Number(on.service.world.insert('clients', { code, phone: '1' })['id'])),
  );
  await on.pull('clients');
  const absence = { sweep: 1, absentSince: NOON, firstGoneAt: null, isCertified: true, lastSeenAt: null };
  await on.session.atomically((tx) =>
    saveAbsences(tx, 'clients', [{ ...absence, id: ids[CODES.indexOf('Held')] ?? '', state: 'held' }]),
  );
  return { on, idOf: (code: string) => ids[CODES.indexOf(code)] ?? '' };
}

async function matched(
  on: Stage,
  text: string,
  more: { readonly create?: boolean; readonly match?: string } = {},
) {
  const sheet = await readSheet('clients.csv', new TextEncoder().encode(text));
  const now = on.clock.now();
  const asked = { kinds: KINDS, sheet, origin: 'clients.csv', createdBy: 'ada', now, match: 'code', ...more };
  const id = await makePlan(on.session, asked);
  return id === null ? null : showPlan(on.session, KINDS, id);
}

describe.each(ONE_DATABASE)('a sheet of codes in %s', (database) => {
  test('finds its records, and refuses each row that may mean none or another one', async () => {
    const { on, idOf } = await scene(database);
    const rows = [
      'A-1,2',
      '000123,2',
      '077,2',
      'De\u0301 j\u00e0,2',
      '123,2',
      '77,2',
      'Two,2',
      'Held,2',
      'ABC,2',
      'New,2',
      'X,2',
      'X,3',
      ',5',
    ];
    const plan = await matched(on, `code,phone\n${rows.join('\n')}\n`);
    expect(planTexts(plan)).toEqual([
      `${idOf('A-1')} phone: "1" → "2"`,
      `${idOf('000123')} phone: "1" → "2"`,
      `${idOf('077')} phone: "1" → "2"`,
      `${idOf('Dé  jà')} phone: "1" → "2"`,
      `new refused: it has probably lost its zeros: record ${idOf('000123')} has code "000123"`,
      `new refused: it has probably lost its zeros: record ${idOf('077')} has code "077"`,
      expect.stringMatching(/^new refused: records \d+ and \d+ have code "Two"$/),
      `new refused: record ${idOf('Held')} is no longer in the list: bms-sync deletions`,
      `new refused: no record has code "ABC"; record ${idOf('abc')} has code "abc"`,
      'new refused: no record has code "New"; to create one, add --create',
      'new refused: code "X" is in the sheet twice',
      'new refused: code "X" is in the sheet twice',
      'new refused: it has no code',
    ]);
    const created = await matched(on, 'code,phone\nNew,5\n123,5\nABC,5\n', { create: true });
    expect(created?.counts).toMatchObject({ updates: 0, creates: 1, refusals: 2 });
    expect(planTexts(created)).toEqual(
      expect.arrayContaining(['new code: null → "New"', 'new phone: null → "5"']),
    );
  });

  test('is stale once a cell has changed in the mirror, and sends nothing of a list that is not certified', async () => {
    const { on, idOf } = await scene(database);
    const plan = await matched(on, 'code,phone\nA-1,2\n');
    on.service.world.update('clients', Number(idOf('A-1')), { phone: '9' });
    await on.pass(60);
    await on.pull('clients');
    expect(await thrownBy(() => applyPlan(on.session, decided(on, plan?.id ?? 0)))).toMatchObject({
      code: 'plan.stale',
    });
    const again = await matched(on, 'code,phone\nA-1,2\n');
    await applyPlan(on.session, decided(on, again?.id ?? 0));
    await on.pass(1);
    expect(on.service.world.get('clients', Number(idOf('A-1')))).toMatchObject({ code: 'A-1', phone: '2' });
    await on.session.atomically((tx) =>
      tx.write(sql`update kind_state set state = 'complete' where kind = 'clients'`),
    );
    expect(planTexts(await matched(on, 'code,phone\nA-1,3\n'))).toEqual([
      'new refused: the list of clients is not certified: bms-sync pull clients',
    ]);
  });

  test('creates no record of a code that a spreadsheet may have respelled, or that is NULL', async () => {
    const { on } = await scene(database);
    const id = String(Number(on.service.world.insert('clients', { code: '4711' })['id']));
    const grouped = String(Number(on.service.world.insert('clients', { code: '1234' })['id']));
    await on.pull('clients');
    const codes = ['NULL', '4711.0', '"4711,00"', '04711', '"1,234"', '0555', '555.0', 'new', '1234'];
    const plan = await matched(on, `code,phone\n${codes.map((code) => `${code},2`).join('\n')}\n`, {
      create: true,
    });
    expect(planTexts(plan)).toEqual([
      'new refused: it has no code',
      `new refused: no record has code "4711.0"; record ${id} has code "4711"`,
      `new refused: no record has code "4711,00"; record ${id} has code "4711"`,
      `new refused: no record has code "04711"; record ${id} has code "4711"`,
      `new refused: no record has code "1,234"; record ${grouped} has code "1234"`,
      'new refused: another row may have code "0555", in another spelling',
      'new refused: another row may have code "555.0", in another spelling',
      'new code: null → "new"',
      'new phone: null → "2"',
      `${grouped} phone: "" → "2"`,
    ]);
    on.service.world.insert('clients', { code: '4711.0' });
    await on.pull('clients');
    expect(planTexts(await matched(on, 'code,phone\n4711,2\n'))).toEqual([
      expect.stringMatching(/^new refused: it has probably lost its zeros: record \d+ has code "4711\.0"$/),
    ]);
  });

  test('finds records while their certified list is read again, and none of one that was not certified', async () => {
    const { on, idOf } = await scene(database);
    const running = sql`update kind_state set state = 'running', lease_until = '9999-01-01 00:00:00.000' where kind = 'clients'`;
    await on.session.atomically((tx) => tx.write(running));
    expect(planTexts(await matched(on, 'code,phone\nA-1,3\n'))).toEqual([`${idOf('A-1')} phone: "1" → "3"`]);
    await on.session.atomically((tx) => tx.write(sql`update run_kinds set state = 'complete'`));
    expect(planTexts(await matched(on, 'code,phone\nA-1,3\n'))).toEqual([
      'new refused: the list of clients is not certified: bms-sync pull clients',
    ]);
  });

  test('takes fields of the natural key that the sheet has, and no ids beside them', async () => {
    const { on } = await scene(database);
    for (const [text, match] of [
      ['code,phone\nA-1,2\n', 'phone'],
      ['phone\n2\n', 'code'],
      ['id,code,phone\n1,A-1,2\n', 'code'],
    ] as const)
      expect(await thrownBy(() => matched(on, text, { match }))).toMatchObject({ code: 'usage.sheet' });
  });
});
