import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sql } from 'drizzle-orm';
import { KINDS } from '../../../../src/catalog/kinds/catalog.ts';
import type { Session } from '../../../../src/db/session/session.ts';
import type { JsonObject } from '../../../../src/lib/json/json.ts';
import { isShownAsWritten } from '../../../../src/diff/merge-update.ts';
import { applyPlan } from '../../../../src/features/plans/work/apply-plan.ts';
import { showPlan, type ShownPlan } from '../../../../src/features/plans/work/plan-document.ts';
import { undoPlan } from '../../../../src/features/plans/work/undo-plan.ts';
import { DATABASES } from '../../../pull/steps.ts';
import { kindNamed } from '../../../store/temp-mirror.ts';
import { opened, type Stage } from '../../../outbound/stage.ts';
import { edit, exported, planOf } from './support.ts';
import '../../../support/draw-from-seed.ts';
import { sized } from '../../../support/tiers.ts';

const RUNS = {
  SQLite: sized({ quick: 12, acceptance: 40, deep: 500 }),
  PostgreSQL: sized({ quick: 3, acceptance: 8, deep: 100 }),
};

const CLIENTS = kindNamed('clients');

/** What a person, or a spreadsheet by itself, may put into a cell. */
const CELL = fc.oneof(
  {
    weight: 9, // One cell with damage refuses a whole row.
    arbitrary: fc.record({
      field: fc.constantFrom('name', 'fax'),
      text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }),
    }),
  },
  fc.record({
    field: fc.constant('credit'),
    text: fc.constantFrom(
      '1 234,50',
      '-0,01',
      '99999999999,99',
      '1E+05',
      '12.5',
      '1.234',
      '12,345',
      '',
      'NULL',
    ),
  }),
  fc.record({
    field: fc.constant('term'),
    text: fc.constantFrom('30', '045', '1 000', '3,5', '#REF!', 'NULL'),
  }),
  fc.record({ field: fc.constant('code'), text: fc.constantFrom('7', '=A1', '1E+05', '00042', '') }),
);

const WHEN = fc.constantFrom(
  'before the plan',
  'before the application',
  'before the send',
  'before the undo',
);

const HISTORY = fc.record({
  edits: fc.array(fc.record({ row: fc.nat({ max: 2 }), cell: CELL }), { minLength: 1, maxLength: 4 }),
  created: fc.array(fc.constantFrom('N-1', 'N-2', 'N-3'), { maxLength: 3 }),
  others: fc.array(
    fc.record({
      when: WHEN,
      row: fc.nat({ max: 2 }),
      field: fc.constantFrom('name', 'fax', 'term'),
      isPulled: fc.boolean(),
    }),
    { maxLength: 5 },
  ),
  kills: fc.array(fc.constantFrom('before the commit', 'after the commit'), { maxLength: 3 }),
});

test.each(DATABASES)(
  '%s: random edits, beside other people and kills, change exactly what was planned, and an undo returns it',
  async (database) => {
    await fc.assert(
      fc.asyncProperty(HISTORY, async ({ edits, created, others, kills }) => {
        const on = await opened({ database, service: { size: 6 } });
        const ids = [...on.service.world.ids('clients')];
        const model = new Map(ids.map((id) => [id, on.service.world.get('clients', id) ?? {}]));
        const meet = async (when: string): Promise<void> => {
          if (when !== 'before the send') await on.pass(60);
          for (const [n, { row, field, isPulled }] of others
            .filter((other) => other.when === when)
            .entries()) {
            const id = ids[row % ids.length] ?? 0;
            const theirs = { [field]: field === 'term' ? 900 + n : `theirs ${when} ${n}` };
            model.set(id, on.service.world.update('clients', id, theirs));
            if (isPulled) await on.pull('clients');
          }
        };

        const lines = await exported(on);
        for (const { row, cell } of edits)
          edit(lines, String(ids[row % ids.length]), { [cell.field]: cell.text });
        for (const code of created) edit(lines, '', { code, name: `made ${code}` });
        await meet('before the plan');
        const plan = await planOf(on, lines);
        if (plan === null) return;
        await meet('before the application');
        const isApplied = await appliedWith(on, plan.id, kills);
        if (!isApplied) {
          expect(await onlyModel(on, model)).toEqual([]);
          return;
        }
        await meet('before the send');
        await on.pass(60);
        const sent = await showPlan(on.session, KINDS, plan.id);
        const before = new Map(model);
        note(model, sent);
        expect(await onlyModel(on, model)).toEqual([]);
        const codes = on.service.world
          .ids('clients')
          .map((id) => on.service.world.get('clients', id)?.['code']);
        for (const code of created) expect(codes.filter((each) => each === code)).toHaveLength(1);

        await meet('before the undo');
        await on.pull('clients');
        const undo = await undoPlan(on.session, {
          kinds: KINDS,
          id: plan.id,
          by: 'ada',
          now: on.clock.now(),
        });
        const returning = await showPlan(on.session, KINDS, undo);
        await appliedWith(on, undo, kills);
        await on.pass(60);
        note(model, await showPlan(on.session, KINDS, undo));
        expect(await onlyModel(on, model)).toEqual([]);
        expect(unreturned(sent, returning, before)).toEqual([]);
      }),
      { numRuns: RUNS[database] },
    );
  },
);

/** Applies a plan as often as it takes; false where it is stale. */
async function appliedWith(on: Stage, id: number, kills: readonly string[]): Promise<boolean> {
  const asked = { kinds: KINDS, id, by: 'ada', now: on.clock.now(), approvals: 0 };
  for (const kill of kills) {
    const died = await applyPlan(dying(on.session, kill), asked).catch((error: unknown) => error);
    if (died !== undefined && !(died instanceof Killed)) break;
  }
  try {
    await Promise.all([applyPlan(on.session, asked), applyPlan(on.session, asked)]);
  } catch (error) {
    expect(error).toMatchObject({
      code: expect.stringMatching(/plan\.(?:stale|empty)|outbox\.double/) as string,
    });
    expect(
      await on.session.query(sql`select id from outbox where idempotency_key like ${`plan:${id}:%`}`),
    ).toEqual([]);
    return false;
  }
  const { rows } = await showPlan(on.session, KINDS, id);
  const wanted = rows.filter(({ cells }) => cells.length > 0).map(({ position }) => `plan:${id}:${position}`);
  const stored = await on.session.query(
    sql`select idempotency_key from outbox where idempotency_key like ${`plan:${id}:%`}`,
  );
  expect(stored.map((row) => row['idempotency_key']).sort()).toEqual(wanted.sort());
  return true;
}

class Killed extends Error {}

/** A session whose process dies about a commit. */
const dying = (session: Session, kill: string): Session => ({
  ...session,
  atomically: async (work) => {
    const result = await session.atomically(async (tx) => {
      const done = await work(tx);
      if (kill === 'before the commit') throw new Killed();
      return done;
    });
    if (kill === 'after the commit') throw new Killed();
    return result;
  },
});

/** Notes what a plan has changed by its own word, the entries that are done: of cells that nobody had touched. */
function note(model: Map<number, JsonObject>, plan: ShownPlan): void {
  for (const { recordId, cells, entry, operation } of plan.rows) {
    if (operation === 'create' || entry?.state !== 'done') continue;
    const record = model.get(Number(recordId)) ?? {};
    const touched = cells.filter(({ field, ...cell }) =>
      [cell.old, cell.new].every((value) => !isShownAsWritten(CLIENTS, field, value, record[field])),
    );
    expect(touched).toEqual([]);
    const changed = Object.fromEntries(cells.map((cell) => [cell.field, cell.new]));
    model.set(Number(recordId), { ...record, ...changed });
  }
}

/** Fields of the service's records that are not those of the model. */
async function onlyModel(on: Stage, model: ReadonlyMap<number, JsonObject>): Promise<readonly string[]> {
  await on.pull('clients');
  return [...model].flatMap(([id, expected]) => {
    const record = on.service.world.get('clients', id) ?? {};
    return Object.entries(expected).flatMap(([field, value]) =>
      isShownAsWritten(CLIENTS, field, value, record[field])
        ? []
        : [`${id} ${field}: expected ${JSON.stringify(value)}, found ${JSON.stringify(record[field])}`],
    );
  });
}

/** Cells that were sent, and that an undo neither returns nor gives a reason for. */
function unreturned(
  sent: ShownPlan,
  undo: ShownPlan,
  before: ReadonlyMap<number, JsonObject>,
): readonly string[] {
  return sent.rows.flatMap(({ recordId, cells, position, entry, operation }) => {
    if (operation === 'create' || entry?.state !== 'done') return [];
    const row = undo.rows.find((each) => each.position === position);
    return cells
      .filter(
        ({ field, new: value }) =>
          !isShownAsWritten(CLIENTS, field, value, before.get(Number(recordId))?.[field]),
      )
      .filter(
        ({ field }) => row?.cells.every((cell) => cell.field !== field) === true && row.refusal === null,
      )
      .map(({ field }) => `${recordId ?? ''} ${field}`);
  });
}
