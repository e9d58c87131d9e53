import { expect, test } from 'vitest';
import { translatorFor } from '../../src/lib/text/translator.ts';
import { describeOutcome, reportLabel } from '../../src/words/outcome-texts.ts';

const LEFT = { state: 'complete', reason: 'absences_unproven', rows: 1 } as const;

test('a cause of several rows is named once, with their number', () => {
  expect(describeOutcome({ ...LEFT, missing: { suspected: 1, approved: 2, rejected: 1 } }).why).toBe(
    '3 rows have left the list; their deletion is not confirmed yet; 1 row has left the list and stays, as a person decided',
  );
});

test('one row is spoken of as one', () => {
  const known = (end: { state: string; reason: string | null }) =>
    describeOutcome({ ...end, rows: 1, missing: null }).known;
  expect(known(LEFT)).toBe('the 1 row that the service listed is in the mirror');
  expect(known({ state: 'certified', reason: null })).toBe(
    'the 1 row of the list, and no others, is in the mirror',
  );
  expect(known({ state: 'aborted', reason: 'timeout' })).toBe('the 1 row that was read stays in the mirror');
  expect(describeOutcome({ ...LEFT, missing: null }, translatorFor('fr')).known).toMatch(/^la .* est /);
});

test('a backfill is done: it may have read some records alone', () => {
  const read = { state: 'complete', reason: null };
  expect(reportLabel({ command: 'backfill' }, read)).toBe('done');
  expect(reportLabel({ command: 'pull' }, read)).toBe('read to its end');
  expect(reportLabel({ command: 'backfill' }, { ...read, state: 'aborted' })).toBe('not read to its end');
});
