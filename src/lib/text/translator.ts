import { IntlMessageFormat } from 'intl-messageformat';
import french from './locales/fr.json' with { type: 'json' };

/** The languages of pages and messages. */
export const LANGUAGES = ['en', 'fr'] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * A message key: an ICU message in English (`{rows, plural, one {# row} other {# rows}}`, `{size, number}`). `locales/fr.json` has
 * the French one under it: one without is an error of types.
 */
export type MessageKey = keyof typeof french;

/** The values of a message's arguments. `Part` is any value that is neither text nor number, such as HTML. */
type MessageValues<Part = never> = Readonly<Record<string, string | number | Part>>;

/** Formats a message. If a value is neither text nor number, returns the pieces in order. */
interface Translate {
  (text: MessageKey, values?: MessageValues): string;
  <Part extends object>(
    text: MessageKey,
    values: MessageValues<Part>,
  ): string | Part | readonly (string | Part)[];
}

/** Our texts in one language. */
export interface Translator {
  readonly language: Language;
  readonly t: Translate;
  /** A word that is data, as a state is: itself if there is no French one. */
  readonly term: (english: string) => string;
  /** A number with its thousands apart. */
  readonly count: (number: number) => string;
  /** The text of a decimal (`-1234.50`) likewise, with every digit of it. */
  readonly decimal: (text: string) => string;
  /** A stored instant; with its time zone where nothing else shows it. */
  readonly date: (text: string) => string;
  /** Whether kinds and fields have their technical names in place of their labels: on the command line, in logs and JSON. */
  readonly isTechnical?: true;
}

/** The languages with the rules for numbers and dates, as Canada writes them. */
export const LOCALES = { en: 'en-CA', fr: 'fr-CA' } as const satisfies Record<Language, string>;

const TRANSLATORS: Readonly<Record<Language, Translator>> = {
  en: createTranslator('en'),
  fr: createTranslator('fr'),
};

/** The texts of commands, logs and JSON documents. */
export const TECHNICAL: Translator = { ...TRANSLATORS.en, isTechnical: true };

/** Formats instants as people write them: `27 Nov 2026, 12:43`, `27 nov. 2026, 12 h 43`. */
export const dateFormat = (language: Language, timeZone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : 'fr-CA', {
    timeZone,
    dateStyle: 'medium',
    timeStyle: 'short',
  });

export const translatorFor = (language: Language): Translator => TRANSLATORS[language];

/** A text in both languages. */
export interface Translations {
  readonly en: string;
  readonly fr: string;
}

/** Translates a text into both languages, each of its bilingual values into the same one. */
export function translateAll(
  text: MessageKey,
  values: Readonly<Record<string, string | Translations>> = {},
): Translations {
  const translate = (language: Language): string => {
    const translatedValues = Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : value[language],
    ]);
    return TRANSLATORS[language].t(text, Object.fromEntries(translatedValues) as MessageValues);
  };
  return { en: translate('en'), fr: translate('fr') };
}

const FRENCH: ReadonlyMap<string, string> = new Map(Object.entries(french));

function createTranslator(language: Language): Translator {
  const locale = LOCALES[language];
  let numbers: Intl.NumberFormat | undefined; // Created by need: it costs some milliseconds.
  const compiled = new Map<string, IntlMessageFormat>();
  const term = (english: string): string => (language === 'en' ? english : (FRENCH.get(english) ?? english));
  const formatOf = (english: string): IntlMessageFormat => {
    const format =
      compiled.get(english) ?? new IntlMessageFormat(term(english), locale, undefined, { ignoreTag: true });
    compiled.set(english, format);
    return format;
  };
  const t = <Part extends object>(text: MessageKey, values?: MessageValues<Part>) => {
    const plain = term(text);
    // Most texts have no argument, and a parser for them would cost each command a tenth of its start.
    return /[{}]|''/.test(plain) ? formatOf(text).format<Part>(values) : plain;
  };
  return {
    language,
    t,
    term,
    count: (number) => (numbers ??= new Intl.NumberFormat(locale)).format(number),
    date: (text) => text.replace(/(\.\d{3})?$/, ' UTC'),
    decimal: (text) => {
      const places = text.split('.')[1]?.length ?? 0;
      const digits = { minimumFractionDigits: places, maximumFractionDigits: places };
      return new Intl.NumberFormat(locale, digits).format(text as `${number}`);
    },
  };
}
