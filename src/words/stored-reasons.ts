import type { MessageKey, Translator } from '../lib/text/translator.ts';

/** The texts that are stored as English sentences with figures: why sends are paused, and where a plan comes from. */
const WITH_FIGURES: readonly (readonly [RegExp, MessageKey])[] = [
  [
    /^(?<made>\d+) sends were made from here, and this database knows of (?<known>\d+)$/,
    '{made} sends were made from here, and this database knows of {known}',
  ],
  [/^undo of plan (?<id>\d+)/, 'undo of plan {id}'],
];

/** Translates a text that is stored in English; returns it unchanged if no translation is known. */
export function translateReason(text: string, translator: Translator): string {
  const [pattern, key] = WITH_FIGURES.find(([pattern]) => pattern.test(text)) ?? [];
  if (pattern === undefined || key === undefined) return translator.term(text);
  return text.replace(pattern, translator.t(key, pattern.exec(text)?.groups));
}
