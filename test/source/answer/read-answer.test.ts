import { expect, test } from 'vitest';
import type { SourceError } from '../../../src/source/http/errors.ts';
import { refuseCached } from '../../../src/source/answer/read-answer.ts';

const where = 'GET /api/clients';

test.each([
  { age: '30' },
  { 'x-cache': 'HIT from edge' },
  { 'cf-cache-status': 'hit' },
  { 'x-cache': 'Hit', age: '0' },
])('A27: an answer with %o is refused: it may be older than one that has landed', (headers) => {
  expect(() => {
    refuseCached({ headers, where });
  }).toThrow(
    expect.objectContaining({ reason: 'cached', state: 'invalid', passing: { waitMs: null } }) as SourceError,
  );
});

test.each([{}, { age: '0' }, { 'x-cache': 'MISS' }, { 'cf-cache-status': 'DYNAMIC' }])(
  'an answer with %o is the service’s own',
  (headers) => {
    expect(() => {
      refuseCached({ headers, where });
    }).not.toThrow();
  },
);
