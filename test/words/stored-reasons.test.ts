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
  [
    'undo of plan 3, which plan 4 has undone already',
    'annulation de la correction 3, que la correction 4 a déjà annulée',
  ],
  [
    'Plan 3 was applied by admin at 2026-03-01 12:00 UTC.',
    'La correction 3 a été appliquée par admin à 2026-03-01 12:00 UTC.',
  ],
  ['The user {name} already exists.', '{name} a déjà un accès.'],
  ['The user O’Neil. already exists.', 'O’Neil. a déjà un accès.'],
  ['the disk is on fire', 'the disk is on fire'],
  ['phone: the disk is on fire', 'phone: the disk is on fire'],
  [
    'record 7 has changed since the export; the disk is on fire',
    'record 7 has changed since the export; the disk is on fire',
  ],
])('%j in French', (reason, french) => {
  // cspell:enable
  expect(translateReason(reason, translatorFor('en'))).toBe(reason);
  expect(translateReason(reason, translatorFor('fr'))).toBe(french);
});

// cspell:disable -- French.
test.each([
  [
    'phone: a blank cell is ambiguous: write NULL to clear the field; credit: "1.234" may be 1, or another number: write 1 or 2',
    'Phone: a blank cell is ambiguous: write NULL to clear the field; Credit: "1.234" may be 1, or another number: write 1 or 2',
    'Téléphone\u00a0: cellule vide. Écrivez NULL pour effacer la valeur; Crédit\u00a0: "1.234" peut être 1, ou un autre nombre\u00a0: écrivez 1 ou 2',
  ],
  [
    'Choose one of them (--kind): clients, purchase_products.',
    'Choose one of them (--kind): clients, purchase lines.',
    'Choisissez l’une d’elles (--kind)\u00a0: clients, lignes d’achat.',
  ],
  ['touched since: phone, credit', 'touched since: Phone, Credit', 'modifié depuis\u00a0: Téléphone, Crédit'],
])('%j has the labels of kinds and fields in both languages', (reason, english, french) => {
  // cspell:enable
  expect(translateReason(reason, translatorFor('en'))).toBe(english);
  expect(translateReason(reason, translatorFor('fr'))).toBe(french);
});
