import { expect, test } from 'vitest';
import { translatorFor } from '../../src/lib/text/translator.ts';
import { translateReason } from '../../src/words/stored-reasons.ts';

// cspell:disable -- French.
test.each([
  [
    '12 sends were made from here, and this database knows of 11',
    '12 envois sont partis d’ici, mais cette base de données n’en connaît que 11',
  ],
  [
    'the mirror has creates that are not in its outbox',
    'le miroir a des créations qui manquent à sa file d’envoi',
  ],
  ['the disk is on fire', 'the disk is on fire'],
])('%j in French', (reason, french) => {
  // cspell:enable
  expect(translateReason(reason, translatorFor('en'))).toBe(reason);
  expect(translateReason(reason, translatorFor('fr'))).toBe(french);
});
