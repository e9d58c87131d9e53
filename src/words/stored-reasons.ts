import type { MessageKey, Translator } from '../lib/text/translator.ts';

/** The one reason of `outbound/freeze.ts` with figures. */
const SENDS_AHEAD = /^(\d+) sends were made from here, and this database knows of (\d+)$/;
const SENDS_AHEAD_TEXT: MessageKey = '{made} sends were made from here, and this database knows of {known}';

/** Translates a reason that is stored as an English sentence; returns it unchanged if no translation is known. */
export function translateReason(reason: string, translator: Translator): string {
  const [, made, known] = SENDS_AHEAD.exec(reason) ?? [];
  if (made === undefined || known === undefined) return translator.term(reason);
  return translator.t(SENDS_AHEAD_TEXT, { made, known });
}
