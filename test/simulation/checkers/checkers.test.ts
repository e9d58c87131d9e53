import { expect, test } from 'vitest';
import { LISTED_KINDS } from '../../../src/catalog/catalog.ts';
import type { ListedKind } from '../../../src/catalog/kind.ts';
import { randomFrom } from '../../../src/sandbox/generate/draw.ts';
import type { ChangeRow, KindDump, MirrorRow } from '../dump.ts';
import { createLedger } from '../ledger.ts';
import type { Ledger } from '../ledger.ts';
import { edited, firstContent, respelled, textOf } from '../records.ts';
import type { RecordedPull, Recording } from '../recording.ts';
import { scheduleOf } from '../schedule.ts';
import { check } from './check.ts';

const kind = LISTED_KINDS.find(({ name }) => name === 'departments') as ListedKind;
const random = randomFrom('checkers');
const seed = { id: '7', key: '', version: 1 };
const first = firstContent(kind, seed, random);
const second = edited(kind, first, { seed: { ...seed, version: 2 }, random });
const [A, B] = [textOf(first), textOf(second)];
const A_AGAIN = textOf(respelled(kind, first, random));

/** Record 7: there from the beginning as A, respelled at 50, B from 100 on; record 8: born at 150; record 9: gone at 160. */
function truth(): Ledger {
  const ledger = createLedger(kind.name);
  const state = (sinceMs: number, text: string, content = first) => ({ state: { sinceMs, content, text } });
  ledger.note('7', 0, { ...state(0, A), presence: 'listed' });
  ledger.note('7', 50, state(50, A_AGAIN, respelled(kind, first, randomFrom('checkers'))));
  ledger.note('7', 100, state(100, B, second));
  ledger.note('8', 150, { ...state(150, '{"id":8}'), presence: 'listed' });
  ledger.note('9', 0, { ...state(0, '{"id":9}'), presence: 'listed' });
  ledger.note('9', 160, { presence: 'gone' });
  return ledger;
}

const row = (id: string, raw: string, deletedAt: string | null = null): MirrorRow => ({
  ...{ id, raw, deletedAt, columns: new Map<string, string | null>() },
});
const BEFORE = [row('7', A), row('9', '{"id":9}')];
const AFTER = [row('7', B), row('8', '{"id":8}'), row('9', '{"id":9}', 'T3')];

const event = (seq: number, id: string, rest: Partial<ChangeRow>): ChangeRow => ({
  ...{ seq, kind: kind.name, id, change: 'updated', observedFrom: null, observedAt: `T${seq}` },
  ...{ before: null, after: null, fields: '{}', origin: 'service', runId: 2, ...rest },
});
const UPDATED = event(1, '7', { before: A, after: B, fields: '{"name":[1,2]}' });
const CREATED = event(2, '8', { change: 'created', after: '{"id":8}' });
const DELETED = event(3, '9', { change: 'deleted', before: '{"id":9}' });

function pull(runId: number, rows: readonly MirrorRow[], lastSeq: number): RecordedPull {
  const dump: KindDump = {
    rows: new Map(rows.map((one) => [one.id, one])),
    ...{ baselineAt: 'T0', certifiedAt: 'T0', held: new Set<string>() },
  };
  const [fromMs, toMs] = [runId * 100 - 90, runId * 100 - 10];
  const after = { kinds: new Map([[kind.name, dump]]), lastSeq };
  return { fromMs, toMs, runId, states: new Map(), isDead: false, after };
}

interface Told {
  readonly changes?: readonly ChangeRow[];
  readonly rows?: readonly MirrorRow[];
}

/** Names the checkers that object to a mirror and its events. */
function objections({ changes = [UPDATED, CREATED, DELETED], rows = AFTER }: Told): string[] {
  const schedule = scheduleOf(1, { personality: 'honest', kind: { kind } });
  const recording: Recording = {
    schedule: { ...schedule, kinds: schedule.kinds.slice(0, 1) },
    ledgers: new Map([[kind.name, truth()]]),
    pulls: [pull(1, BEFORE, 0), pull(2, rows, 3)],
    changes,
    lying: null,
  };
  return [...new Set(check(recording).map(({ checker }) => checker))].sort();
}

test('a true history passes', () => {
  expect(objections({})).toEqual([]);
});

const WRONG: readonly [string, Told, string][] = [
  [
    'a record deleted that was there',
    {
      changes: [
        UPDATED,
        event(2, '8', { ...CREATED, runId: 2 }),
        event(3, '7', { change: 'deleted', before: B }),
      ],
    },
    'false deletion',
  ],
  ['a row that is not in the mirror', { rows: AFTER.filter(({ id }) => id !== '8') }, 'lost row'],
  ['a row that no record ever was', { rows: [...AFTER, row('10', '{"id":10}')] }, 'invented'],
  ['a content that no record ever had', { rows: [row('7', '{"id":7}'), ...AFTER.slice(1)] }, 'invented'],
  ['a row left as it was', { rows: [row('7', A), ...AFTER.slice(1)] }, 'unequal'],
  ['a row left that is gone', { rows: [...AFTER.slice(0, 2), row('9', '{"id":9}')] }, 'unequal'],
  [
    'a column that says something else',
    { rows: [{ ...row('7', B), columns: new Map([['name', 'other']]) }, ...AFTER.slice(1)] },
    'wrong column',
  ],
  [
    'an update in which nothing changed',
    { changes: [{ ...UPDATED, after: A_AGAIN }, CREATED, DELETED] },
    'phantom event',
  ],
  [
    'an update that names other fields',
    { changes: [{ ...UPDATED, fields: '{"branch_id":[1,2]}' }, CREATED, DELETED] },
    'phantom event',
  ],
  [
    'a record created that was known',
    { changes: [event(1, '7', { change: 'created', after: B }), CREATED, DELETED] },
    'phantom event',
  ],
  ['a lost event', { changes: [CREATED, DELETED] }, 'undo'],
  [
    'an event that does not lead to the row',
    { changes: [UPDATED, CREATED, DELETED, event(4, '7', { before: B, after: A })] },
    'broken chain',
  ],
  [
    'an older content after a newer one',
    { changes: [event(1, '7', { before: A, after: B }), event(2, '7', { before: B, after: A })] },
    'backwards',
  ],
  ['a number twice', { changes: [UPDATED, { ...CREATED, seq: 1 }, DELETED] }, 'order'],
  ['an instant that goes back', { changes: [UPDATED, { ...CREATED, observedAt: 'T0' }, DELETED] }, 'order'],
];

test.each(WRONG)('%s is caught', (_what, told, checker) => {
  expect(objections(told)).toContain(checker);
});
