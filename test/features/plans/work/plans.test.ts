import { TABLE_OWNERS } from '../../../../src/feature-hooks.ts';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Workbook } from '@cj-tech-master/excelts';
import { sql } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { excludeFields } from '../../../../src/catalog/exclude.ts';
import { KINDS } from '../../../../src/catalog/kinds/catalog.ts';
import { eraseTraces } from '../../../../src/store/records/erasure-store.ts';
import { findTraces } from '../../../../src/store/records/record-traces.ts';
import { applyRetention } from '../../../../src/pull/retention.ts';
import { removeExcluded } from '../../../../src/store/schema/remove-excluded.ts';
import { applyPlan } from '../../../../src/features/plans/work/apply-plan.ts';
import { makePlan } from '../../../../src/features/plans/work/make-plan.ts';
import { readSheet } from '../../../../src/features/plans/sheet/read-sheet.ts';
import { openExport } from '../../../../src/features/export/export-source.ts';
import { writeWorkbook } from '../../../../src/features/export/workbook.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { readWaitingPlans, showPlan } from '../../../../src/features/plans/work/plan-document.ts';
import { undoPlan } from '../../../../src/features/plans/work/undo-plan.ts';
import { retryEntry } from '../../../../src/outbound/decisions/decide.ts';
import { KEEP_ALL } from '../../../support/retention.ts';
import { type DATABASES, ONE_DATABASE } from '../../../pull/steps.ts';
import { kindNamed, thrownBy } from '../../../store/temp-mirror.ts';
import { opened, spoil, type Stage } from '../../../outbound/stage.ts';
import { decided, edit, exported, planOf, planTexts, unversioned } from './support.ts';

const CLIENT = {
  code: '000123',
  name: 'Zoé & Fils',
  phone: '+1 514 555-0123',
  credit: '1234567.10',
  term: 30,
  address: '=1+1;-2',
  fax: null,
  creation_date: '2025-01-31',
};

/** A service with one known client, and its mirror. */
async function scene(database: (typeof DATABASES)[number]) {
  const on = await opened({ database, pulled: [] });
  const number = on.service.world.insert('clients', CLIENT)['id'] as number;
  await on.pull('clients');
  return { on, id: String(number), number, lines: await exported(on) };
}

const client = (on: Stage, id: number) => on.service.world.get('clients', id);

describe.each(ONE_DATABASE)('a plan in %s', (database) => {
  test('tells each cell that would change, is applied once, and is undone by a plan of its own', async () => {
    const { on, id, number, lines } = await scene(database);
    edit(lines, id, { credit: '1 234 568,25', phone: '+1 514 555-0199', fax: '555', term: 'NULL' });
    edit(lines, '', { code: 'N-1', name: 'New' });
    const plan = await planOf(on, lines);
    const cells = [
      `${id} phone: "+1 514 555-0123" → "+1 514 555-0199"`,
      `${id} fax: null → "555"`,
      `${id} credit: "1234567.10" → "1234568.25"`,
      `${id} term: 30 → null`,
      'new code: null → "N-1"',
      'new name: null → "New"',
    ];
    expect([...planTexts(plan)].sort()).toEqual([...cells].sort());
    const planId = plan?.id ?? 0;
    await applyPlan(on.session, decided(on, planId));
    await applyPlan(on.session, decided(on, planId));
    expect(await on.rows(sql`select idempotency_key from outbox order by id`)).toHaveLength(2);
    await on.pass(1);
    expect(client(on, number)).toMatchObject({
      credit: '1234568.25',
      phone: '+1 514 555-0199',
      fax: '555',
      term: null,
    });

    on.service.world.update('clients', number, { fax: 'touched' });
    await on.pull('clients');
    const undo = await undoPlan(on.session, decided(on, planId));
    expect(planTexts(await showPlan(on.session, KINDS, undo))).toContain(`${id} refused: touched since: fax`);
    await applyPlan(on.session, decided(on, undo));
    await on.pass(1);
    expect(client(on, number)).toMatchObject({ ...CLIENT, fax: 'touched' });
    const again = await undoPlan(on.session, decided(on, planId));
    expect(await showPlan(on.session, KINDS, again)).toMatchObject({
      origin: `undo of plan ${planId}, which plan ${undo} has undone already`,
    });
  });

  test('is stale once the mirror has moved on in one of its cells, and stores nothing', async () => {
    const { on, id, number, lines } = await scene(database);
    edit(lines, id, { name: 'Ours' });
    const plan = await planOf(on, lines);
    on.service.world.update('clients', number, { term: 45 });
    await on.pass(60);
    await on.pull('clients');
    expect((await showPlan(on.session, KINDS, plan?.id ?? 0)).state).toBe('open');
    on.service.world.update('clients', number, { name: 'Theirs' });
    await on.pull('clients');
    expect(await showPlan(on.session, KINDS, plan?.id ?? 0)).toMatchObject({
      state: 'stale',
      stale: [expect.stringContaining('is now "Theirs"')],
      next: 'Export again, and make a new plan.',
    });
    expect(await thrownBy(() => applyPlan(on.session, decided(on, plan?.id ?? 0)))).toMatchObject({
      code: 'plan.stale',
      hint: 'Nothing was stored. Export again, and make a new plan.',
    });
    expect(await on.rows(sql`select id from outbox`)).toEqual([]);
  });

  test('that undoes another one and is stale says to undo that one again', async () => {
    const { on, id, number, lines } = await scene(database);
    edit(lines, id, { name: 'Ours' });
    const plan = (await planOf(on, lines))?.id ?? 0;
    await applyPlan(on.session, decided(on, plan));
    await on.pass(60);
    const undo = await undoPlan(on.session, decided(on, plan));
    await on.pass(60);
    on.service.world.update('clients', number, { name: 'Theirs' });
    await on.pull('clients');
    expect(await showPlan(on.session, KINDS, undo, { plans: { approvals: 1 } })).toMatchObject({
      state: 'stale',
      next: 'Undo the former plan again.',
    });
    expect(await thrownBy(() => applyPlan(on.session, decided(on, undo)))).toMatchObject({
      code: 'plan.stale',
      hint: 'Nothing was stored. Undo the former plan again.',
    });
    expect(await readWaitingPlans(on.session, KINDS, { approvals: 1 })).toEqual([]);
  });
});

describe.each(ONE_DATABASE)('in %s', (database) => {
  test('a record that is forgotten leaves its plans, which cannot be applied any more', async () => {
    const { on, id, lines } = await scene(database);
    edit(lines, id, { name: 'Ours' });
    const plan = await planOf(on, lines);
    await on.session.atomically(async (tx) => {
      const traces = await findTraces(tx, kindNamed('clients'), id);
      await eraseTraces(tx, { kind: 'clients', id, ...traces }, `{"id":${id}}`, TABLE_OWNERS);
    });
    expect(await on.rows(sql`select position from plan_rows`)).toEqual([]);
    expect(await thrownBy(() => applyPlan(on.session, decided(on, plan?.id ?? 0)))).toMatchObject({
      code: 'plan.altered',
    });
  });

  test('an excluded field leaves its plans; what else an applied one changed can be undone', async () => {
    const { on, id, lines } = await scene(database);
    edit(lines, id, { name: 'Ours', fax: '555' });
    const applied = (await planOf(on, lines))?.id ?? 0;
    await applyPlan(on.session, decided(on, applied));
    await on.pass(1);
    const later = await exported(on);
    edit(later, id, { fax: '666' });
    expect(await planOf(on, later)).not.toBeNull();
    edit(later, id, { fax: '555', name: 'fax' });
    const other = (await planOf(on, later))?.id ?? 0;

    await removeExcluded(on.session, [excludeFields(kindNamed('clients'), ['fax'])], TABLE_OWNERS);

    expect(await on.rows(sql`select id from plans order by id`)).toMatchObject([
      { id: applied },
      { id: other },
    ]);
    expect(await on.rows(sql`select plan_id from plan_rows where cells like '%555%'`)).toEqual([]);
    const undo = await undoPlan(on.session, decided(on, applied));
    expect(planTexts(await showPlan(on.session, KINDS, undo))).toEqual([`${id} name: "Ours" → "Zoé & Fils"`]);
    await applyPlan(on.session, decided(on, other));
  });

  test('a plan goes after the time that the outbox keeps', async () => {
    const { on, id, lines } = await scene(database);
    edit(lines, id, { name: 'Ours' });
    expect(await planOf(on, lines)).not.toBeNull();
    await applyRetention(
      on.session,
      { ...KEEP_ALL, outboxDays: 1 },
      new Date(on.clock.now().getTime() + 2 * DAY_MS),
    );
    expect(await on.rows(sql`select plan_id from plan_rows`)).toEqual([]);
  });
});

const DAY_MS = 86_400_000;

describe.each(ONE_DATABASE)('a plan in %s', (database) => {
  test('of an untouched export has no rows, whatever the spreadsheet did to its forms', async () => {
    const { on, id, lines } = await scene(database);
    expect(await planOf(on, lines)).toBeNull();
    edit(lines, id, {
      credit: '1 234 567,1',
      term: ' 30',
      _changed_at: lines.at(-1)?.[lines[0]?.indexOf('_changed_at') ?? 0]?.slice(0, 16) ?? '',
    });
    expect(await planOf(on, lines)).toBeNull();
  });

  test.each([undefined, 'en', 'fr'] as const)(
    'of a workbook with headings %s is that of its cells: formulas are refused, and types are read back',
    async (headings) => {
      const { on, id } = await scene(database);
      await on.clock.sleep(65_123);
      on.service.world.update('clients', Number(id), {
        term: 31,
        fax: 'a\u0007b_x0007_\u001fc',
        city: '_x000D_',
      });
      await on.pull('clients');
      const path = join(tempFolder(), 'clients.xlsx');
      const { source } = await openExport(on.session, KINDS, {
        what: 'clients',
        asOf: undefined,
        now: on.clock.now(),
        timezone: 'UTC',
        headings,
      });
      await writeWorkbook(source, createWriteStream(path), new AbortController().signal);
      const planned = async (): Promise<readonly string[]> => {
        const sheet = await readSheet('clients.xlsx', readFileSync(path));
        const asked = { kinds: KINDS, sheet, origin: 'clients.xlsx', createdBy: 'ada', now: on.clock.now() };
        const made = await makePlan(on.session, asked);
        return made === null ? [] : planTexts(await showPlan(on.session, KINDS, made));
      };
      expect(await planned()).toEqual([]);

      const book = new Workbook();
      await book.xlsx.readFile(path);
      const [sheet] = book.worksheets;
      const cell = (row: number, name: string) =>
        sheet?.getRow(row).getCell(source.columns.findIndex((each) => each.name === name) + 1);
      const last = sheet?.rowCount ?? 0;
      for (const [row, name, value] of [
        [last, 'credit', 1234568.25],
        [last, 'creation_date', new Date('2025-02-01T00:00:00Z')],
        [2, 'name', { formula: 'A1', result: 'x' }],
        [3, 'code', 100000],
      ] as const) {
        const at = cell(row, name);
        if (at !== undefined) at.value = value;
      }
      await book.xlsx.writeFile(path);
      expect(await planned()).toEqual([
        expect.stringContaining('name: it is a formula'),
        expect.stringMatching(/code: "[^"]+" → "100000"$/),
        `${id} creation_date: "2025-01-31" → "2025-02-01"`,
        `${id} credit: "1234567.10" → "1234568.25"`,
      ]);
    },
  );

  const REFUSED: readonly (readonly [what: string, cells: Readonly<Record<string, string>>, why: string])[] =
    [
      ['a code that lost its zeros', { code: '123' }, 'code: it has lost its zeros: it was 000123'],
      ['a code with a power', { code: '1E+05' }, 'code: a spreadsheet has shortened it to 1E+05'],
      ['an amount with a power', { credit: '1,2E+06' }, 'credit: a spreadsheet has shortened it'],
      ['a blanked cell', { name: '' }, 'name: a blank cell'],
      ['a formula', { name: '=A1' }, 'name: it is a formula'],
      ['the error of a formula', { name: '#REF!' }, 'name: it is the error #REF!'],
      ['an amount with thousands by point', { credit: '1.234' }, 'credit: expected a number'],
      [
        'an amount with three places',
        { credit: '1,234' },
        'credit: "1,234" has more than the 2 documented places',
      ],
      ['a word for a number', { term: 'soon' }, 'term: expected a number'],
      ['a day that does not exist', { creation_date: '2025-02-30' }, 'creation_date: expected a date'],
      ['a computed column', { credit_exact: '5' }, 'credit_exact is computed: change credit'],
      ['no version', { name: 'Ours', _version: '' }, '_version is missing'],
      ['a version that is none', { name: 'Ours', _version: 'v1' }, 'has changed since the export'],
    ];
  test.each(REFUSED)('refuses %s', async (_, cells, why) => {
    const { on, id, lines } = await scene(database);
    edit(lines, id, cells);
    const plan = await planOf(on, lines);
    expect(plan?.rows).toMatchObject([
      { recordId: id, cells: [], refusal: expect.stringContaining(why) as string },
    ]);
  });

  test('refuses an edit in a file without versions', async () => {
    const { on, id, lines } = await scene(database);
    edit(lines, id, { name: 'Ours' });
    expect(planTexts(await planOf(on, unversioned(lines)))).toEqual([
      `${id} refused: _version is missing, which shows whether the record has changed: edit an exported file, and keep that column`,
    ]);
  });

  test('takes no notice of _changed_at where the row has a version', async () => {
    const { on, id, lines } = await scene(database);
    edit(lines, id, { name: 'Ours', _changed_at: '11:44.0' });
    expect(planTexts(await planOf(on, lines))).toEqual([`${id} name: "Zoé & Fils" → "Ours"`]);
  });

  test('refuses ids that are gone or there twice, columns that nobody knows, and records that are there', async () => {
    const { on, id, lines } = await scene(database);
    const [head = []] = lines;
    head.push('remark');
    edit(lines, '999999', { name: 'Nobody' });
    edit(lines, '', { code: '000123', name: 'Double' });
    edit(lines, '', { code: 'N-2', name: 'Twin' });
    edit(lines, '', { code: 'N-2', name: 'Twin' });
    edit(lines, id, { remark: 'call' });
    lines.push([...(lines[1] ?? [])]);
    expect(planTexts(await planOf(on, lines))).toEqual([
      expect.stringContaining('is in the sheet twice'),
      `${id} refused: remark is not a column of the export`,
      '999999 refused: clients has no record 999999',
      `new refused: record ${id} has the same natural key`,
      'new code: null → "N-2"',
      'new name: null → "Twin"',
      expect.stringContaining('has the same natural key'),
      expect.stringContaining('is in the sheet twice'),
    ]);
  });

  test('refuses an edit of a record that has changed since the export, and says nothing of other rows that have', async () => {
    const { on, id, number, lines } = await scene(database);
    const other = on.service.world.ids('clients').find((each) => each !== number);
    await on.pass(60);
    on.service.world.update('clients', number, { term: 45 });
    on.service.world.update('clients', Number(other), { term: 45 });
    await on.pull('clients');
    edit(lines, id, { name: 'Ours' });
    expect(planTexts(await planOf(on, lines))).toEqual([
      expect.stringContaining(`${id} refused: record ${id} has changed since the export`),
    ]);
  });

  test('tells states of the same instant apart by their version', async () => {
    const { on, id, number } = await scene(database);
    await on.pass(60);
    on.service.world.update('clients', number, { term: 45 });
    await on.pull('clients');
    on.service.world.update('clients', number, { term: 46 });
    await on.pull('clients');
    const lines = await exported(on);
    edit(lines, id, { name: 'Ours' });
    expect(planTexts(await planOf(on, lines))).toEqual([`${id} name: "Zoé & Fils" → "Ours"`]);
  });

  test('shows no entry that somebody else stored under its key, and cannot be applied beside one', async () => {
    const { on, id, lines } = await scene(database);
    edit(lines, id, { name: 'Ours' });
    const plan = (await planOf(on, lines))?.id ?? 0;
    const position = Number((await on.rows(sql`select position from plan_rows`))[0]?.['position']);
    const theirs = { operation: 'update', kind: 'clients', id, data: { name: 'Ours' } } as const;
    await on.store({ ...theirs, key: `plan:${plan}:${position}` });
    const shown = await showPlan(on.session, KINDS, plan);
    expect(shown).toMatchObject({ state: 'open', counts: { entries: {} }, rows: [{ entry: null }] });
    expect(await thrownBy(() => applyPlan(on.session, decided(on, plan)))).toMatchObject({
      code: 'outbox.key_taken',
      hint: 'Nothing was stored. Make the plan again.',
    });
    await on.pass(1);
    expect(await on.rows(sql`select state, verdict from outbox`)).toEqual([
      { state: 'rejected', verdict: 'invalid' },
    ]);
    const again = (await planOf(on, lines))?.id ?? 0;
    await applyPlan(on.session, decided(on, again));
    expect((await showPlan(on.session, KINDS, again)).counts.entries).toEqual({ ready: 1 });
    await on.store({ ...theirs, key: `plan:${again}:${position + 1}` });
    const refused = { position: position + 1, cells: '[]', refusal: 'no' };
    await on.session.atomically((tx) =>
      tx.query(sql`insert into plan_rows (plan_id, position, operation, cells, refusal)
        values (${again}, ${refused.position}, 'update', ${refused.cells}, ${refused.refusal})`),
    );
    expect((await showPlan(on.session, KINDS, again)).rows).toMatchObject([{ entry: {} }, { entry: null }]);
  });

  test('does not overwrite what the service shows by the time it is sent', async () => {
    const { on, id, number, lines } = await scene(database);
    edit(lines, id, { name: 'Ours' });
    const plan = await planOf(on, lines);
    await applyPlan(on.session, decided(on, plan?.id ?? 0));
    on.service.world.update('clients', number, { name: 'Theirs' });
    await on.pass(1);
    expect(client(on, number)).toMatchObject({ name: 'Theirs' });
    expect((await showPlan(on.session, KINDS, plan?.id ?? 0)).rows).toMatchObject([
      { entry: { state: 'parked', verdict: 'conflict' } },
    ]);
  });
});

describe.each(ONE_DATABASE)('the undo of a plan in %s', (database) => {
  /** The plan that returns what a plan has changed, as its lines. */
  async function undone(on: Stage, planId: number, unproven = false) {
    const undo = await undoPlan(on.session, { ...decided(on, planId), unproven });
    return planTexts(await showPlan(on.session, KINDS, undo));
  }

  test('shows apart what another user may have written, and takes it back only when asked to', async () => {
    const { on, id, number, lines } = await scene(database);
    edit(lines, id, { name: 'Ours' });
    const plan = await planOf(on, lines);
    await applyPlan(on.session, decided(on, plan?.id ?? 0));
    spoil(on, 'PUT', { drop: 'before' }, { times: 1 });
    await on.pass(1);
    on.service.world.update('clients', number, { name: 'Ours' }); // Another user.
    await on.pass(60);
    expect(await undone(on, plan?.id ?? 0)).toEqual([
      expect.stringMatching(/refused: .*--unproven\): name$/),
    ]);
    expect(await undone(on, plan?.id ?? 0, true)).toEqual([`${id} name: "Ours" → "Zoé & Fils"`]);
  });

  test('returns what our write replaced: the value of another user that a retry has overwritten', async () => {
    const { on, id, number, lines } = await scene(database);
    edit(lines, id, { name: 'Ours', term: '45', fax: '5' });
    const plan = (await planOf(on, lines))?.id ?? 0;
    await applyPlan(on.session, decided(on, plan));
    on.service.world.update('clients', number, { name: 'Theirs', fax: '5' });
    await on.pass(1);
    const [entry] = (await showPlan(on.session, KINDS, plan)).rows;
    expect(entry).toMatchObject({ entry: { state: 'parked', verdict: 'conflict' } });
    await retryEntry(on.session, KINDS, { id: entry?.entry?.id ?? 0, overwrite: true }, on.clock.now());
    await on.pass(1);
    expect(client(on, number)).toMatchObject({ name: 'Ours', term: 45, fax: '5' });
    expect(await undone(on, plan)).toEqual([
      `${id} name: "Ours" → "Theirs"`,
      `${id} term: 45 → 30`,
      `${id} refused: no event shows that this plan changed it: fax`,
    ]);
  });

  test('knows its own values in other spellings, and on an old page', async () => {
    const { on, id, number, lines } = await scene(database);
    edit(lines, id, { name: 'Ours & Co', credit: '0,10' });
    const plan = await planOf(on, lines);
    await applyPlan(on.session, decided(on, plan?.id ?? 0));
    await on.pass(1);
    for (const shown of [CLIENT, { name: 'Ours &amp; Co', credit: '0.1000000000001' }]) {
      on.service.world.update('clients', number, { name: shown.name, credit: shown.credit });
      await on.pass(60);
      await on.pull('clients');
    }
    expect(await undone(on, plan?.id ?? 0)).toEqual([
      `${id} name: "Ours &amp; Co" → "Zoé & Fils"`,
      `${id} credit: "0.1000000000001" → "1234567.10"`,
    ]);
  });

  test('and the plan itself leave a record alone that has got the id since', async () => {
    const { on, id, number, lines } = await scene(database);
    const other = {
      code: 'B-9',
      name: 'Scierie Bob',
      address: '9, rue B',
      phone: '9',
      creation_date: '2020-02-02',
      id: number,
    };
    edit(lines, id, { term: '45' });
    const first = await planOf(on, lines);
    const second = await planOf(on, lines);
    await on.pass(1);
    await applyPlan(on.session, decided(on, first?.id ?? 0));
    await on.pass(1);
    on.service.world.remove('clients', number);
    on.service.world.insert('clients', { ...other, term: 45 });
    await on.pass(60);
    await on.pull('clients');
    expect(await undone(on, first?.id ?? 0)).toEqual([
      `${id} refused: ${id} is now the id of another record`,
    ]);
    expect((await showPlan(on.session, KINDS, second?.id ?? 0)).stale).toEqual([
      expect.stringContaining(`record ${id} is now another one`),
    ]);
  });
});
