import { expect, test } from 'vitest';
import { TECHNICAL } from '../../src/lib/text/translator.ts';
import { needWords, plainWhy } from '../../src/words/needs.ts';

test.each([
  [20, 'send 19; send 20.'],
  [21, 'send 19; send 20 and 1 other.'],
  [130, 'send 19; send 20 and 110 others.'],
])('of %d unknown sends, those that are not named are counted', (sends, end) => {
  const unknown = Array.from({ length: sends }, (_, at) => `send ${at + 1}`);
  const why = plainWhy(
    needWords({ type: 'outbox.frozen', facts: { reason: 'restored', unknown } }, TECHNICAL),
  );
  expect(why).toContain('Unknown to this database: send 1; send 2; ');
  expect(why).toContain(`; ${end} `);
});
