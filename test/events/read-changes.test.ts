import { describe, expect, test } from 'vitest';
import { changeLine } from '../../src/events/follow-changes.ts';
import { readChanges, seqBeforeLatest } from '../../src/events/read-changes.ts';
import { latestSeq } from '../../src/store/records/change-store.ts';
import { DATABASES, at, mirrorIn, putChanges } from './support.ts';

const AWKWARD =
  '{"2":1.10,"1":12345678901234567890,"z":1e400,"a":"é\\u0000\\" \u2028","id":9007199254740993,"__proto__":-0}';

const some = (count: number, kind = 'clients') =>
  Array.from({ length: count }, (_, index) => ({
    kind,
    record_id: String(index + 1),
    change: 'created',
    observed_at: at('12:00'),
  }));

describe.each(DATABASES)('%s', (database) => {
  test('an event has everything that its row has, the records to the letter', async () => {
    const { session } = await mirrorIn(database);
    await putChanges(session, {
      kind: 'punches',
      record_id: '9223372036854775807',
      change: 'updated',
      run_id: 7,
      observed_from: at('11:00'),
      observed_at: at('12:00'),
      origin: 'outbox:3',
      before: '{"id":1.00}',
      after: AWKWARD,
      fields: '{"z":[null,1e400]}',
    });

    const [change, ...others] = await readChanges(session, { after: 0, limit: 10 });

    expect(others).toEqual([]);
    expect(change).toEqual({
      seq: 1,
      kind: 'punches',
      recordId: '9223372036854775807',
      change: 'updated',
      runId: 7,
      observedFrom: at('11:00'),
      observedAt: at('12:00'),
      origin: 'outbox:3',
      key: null,
      before: '{"id":1.00}',
      after: AWKWARD,
      fields: '{"z":[null,1e400]}',
    });
    const line = change && changeLine(change);
    expect(line).toBe(
      '{"seq":1,"kind":"punches","recordId":"9223372036854775807","change":"updated",' +
        '"observedFrom":"2026-03-01T11:00:00.000Z","observedAt":"2026-03-01T12:00:00.000Z",' +
        `"before":{"id":1.00},"after":${AWKWARD},"fields":{"z":[null,1e400]},"origin":"outbox:3","key":null,"runId":7}`,
    );
    expect(line).not.toContain('\n');
  });

  test('events come in order, from after a seq, before one, of a kind, as many as asked for', async () => {
    const { session } = await mirrorIn(database);
    expect(await latestSeq(session)).toBe(0);
    expect(await readChanges(session, { after: 0, limit: 5 })).toEqual([]);
    await putChanges(session, ...some(3), ...some(3, 'products'), ...some(2));
    const seqs = async (wanted: Parameters<typeof readChanges>[1]) =>
      (await readChanges(session, wanted)).map(({ seq }) => seq);

    expect(await latestSeq(session)).toBe(8);
    expect(await seqs({ after: 0, limit: 100 })).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(await seqs({ after: 2, limit: 3 })).toEqual([3, 4, 5]);
    expect(await seqs({ after: 2, before: 5, limit: 100 })).toEqual([3, 4]);
    expect(await seqs({ after: 2, kind: 'clients', limit: 2 })).toEqual([3, 7]);
    expect(await seqs({ after: 8, limit: 100 })).toEqual([]);
    expect(await seqs({ after: 0, limit: 0 })).toEqual([]);
  });

  test('the latest events begin after a seq that can be told', async () => {
    const { session } = await mirrorIn(database);
    expect(await seqBeforeLatest(session, undefined, 5)).toBe(0);
    await putChanges(session, ...some(3), ...some(3, 'products'), ...some(2));

    expect(await seqBeforeLatest(session, undefined, 3)).toBe(5);
    expect(await seqBeforeLatest(session, 'clients', 3)).toBe(2);
    expect(await seqBeforeLatest(session, undefined, 100)).toBe(0);
    expect(await seqBeforeLatest(session, undefined, 0)).toBe(8);
    expect(await seqBeforeLatest(session, 'bookings', 3)).toBe(8);
  });
});
