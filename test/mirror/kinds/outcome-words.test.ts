import { expect, test } from 'vitest';
import { REASONS_WITH_WORDS, outcomeWords } from '../../../src/mirror/kinds/outcome-words.ts';
import type { SourceReason } from '../../../src/source/http/errors.ts';

/** The compiler refuses this table when the source gets another reason. */
const OF_THE_SOURCE: Readonly<Record<SourceReason, true>> = {
  ...{ not_json: true, html: true, not_utf8: true, too_deep: true, success_false: true },
  ...{ data_not_a_list: true, bad_meta: true, empty_body: true, wrong_record: true, cached: true },
  ...{ page_ignored: true, page_repeated: true, page_grew: true, page_resized: true, endless: true },
  ...{ empty_pages: true, unauthorized: true, forbidden: true, not_found: true, redirected: true },
  ...{ rejected: true, unreachable: true, timeout: true, too_big: true, unavailable: true },
  ...{ rate_limited: true, interrupted: true },
};
const OF_A_SWEEP = [
  ...['no_end', 'total_differs', 'rows_unseen', 'page_size_unproven', 'too_many_rows'],
  ...['certified_earlier', 'rows_missing', 'quarantined', 'absences_unproven', 'busy', 'other_source'],
];
const STATES = ['certified', 'complete', 'invalid', 'aborted', 'busy', 'running', 'never'];

test('every reason code has words', () => {
  expect([...REASONS_WITH_WORDS].sort()).toEqual([...Object.keys(OF_THE_SOURCE), ...OF_A_SWEEP].sort());
});

test('no words show a code, in whatever state', () => {
  const ends = REASONS_WITH_WORDS.flatMap((reason) =>
    STATES.flatMap((state) => [true, false].map((isFirst) => ({ state, reason, isFirst, rows: 6000 }))),
  );
  for (const end of ends) {
    const { label, known, next } = outcomeWords(end);
    expect(label).not.toBe('');
    expect([label, known, next].join(' ')).not.toMatch(/[a-z]_[a-z]/);
  }
});

test('a first reading of a long list says what is known, and what the next pull adds', () => {
  const words = outcomeWords({ state: 'complete', reason: 'rows_unseen', isFirst: true, rows: 6000 });
  expect(words).toEqual({
    label: 'read to its end',
    why: 'one reading alone cannot prove that no row of a long list is missing',
    known: 'all 6,000 rows that the service listed are in the mirror',
    next: 'The next pull can prove that none is missing, and from then on finds deletions.',
  });
});

test('an interrupted first reading says that landed rows stay, and what the next one repeats', () => {
  const { label, why, known, next } = outcomeWords({
    ...{ state: 'aborted', reason: 'interrupted', isFirst: true, rows: 1200 },
  });
  expect([label, why]).toEqual(['not read to its end', 'the pull was interrupted']);
  expect(known).toBe('all 1,200 rows that were read stay in the mirror');
  expect(next).toContain('reads the whole list again');
  expect(next).toContain('Nothing counts as deleted before');
});

test('a list that had not been read says that nothing of it was', () => {
  const end = { state: 'aborted', reason: 'unreachable', isFirst: false, rows: 0 };
  expect(outcomeWords(end).known).toBe('this command read nothing of it');
});
