import texts from '../../../locales/fr.json' with { type: 'json' };

/** A text of ours in the languages of its readers. */
export interface Bilingual {
  readonly en: string;
  readonly fr: string;
}

const FRENCH: ReadonlyMap<string, string> = new Map(Object.entries(texts));

/**
 * A text in both languages: `locales/fr.json` has the French one under the English one. One without French stays English.
 * @param values What stands for `{name}` in the text.
 */
export function bilingual(
  english: string,
  values: Readonly<Record<string, string | Bilingual>> = {},
): Bilingual {
  const filled = (text: string, language: keyof Bilingual): string =>
    text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => {
      const value = values[name] ?? whole;
      return typeof value === 'string' ? value : value[language];
    });
  return { en: filled(english, 'en'), fr: filled(FRENCH.get(english) ?? english, 'fr') };
}
