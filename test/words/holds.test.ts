import { expect, test } from 'vitest';
import { translatorFor } from '../../src/lib/text/translator.ts';
import { heldBecause } from '../../src/words/holds.ts';

// cspell:disable -- French.
test.each([
  [
    'rows:1200',
    'more than 1,200 records left the list at once, the limit in the settings',
    'plus de 1\u00a0200 fiches ont quitté la liste en même temps, la limite des réglages',
  ],
  [
    'share:0.025',
    'more than 2.5% of the records left the list at once, the limit in the settings',
    'plus de 2,5\u00a0% des fiches ont quitté la liste en même temps, la limite des réglages',
  ],
  [
    'older_than:id',
    expect.stringContaining('exactly the oldest rows are missing') as string,
    expect.any(String) as string,
  ],
  [
    null,
    'they left the list, and their deletion needs a decision',
    'elles ont quitté la liste, et leur suppression attend une décision',
  ],
])('why %s holds records, in both languages', (why, english, french) => {
  // cspell:enable
  expect(heldBecause(why)).toEqual(english);
  expect(heldBecause(why, translatorFor('fr'))).toEqual(french);
});
