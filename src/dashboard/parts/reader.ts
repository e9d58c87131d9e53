import { html, type Html } from '../../http/html.ts';
import { LOCALES, translatorFor, type Language, type MessageKey } from '../../lib/text/translator.ts';
import { parseInstant, type Clock } from '../../lib/time/clock.ts';

/** The reader of a page: texts and numbers in their language, instants in the time zone of the schedules. */
export type Reader = ReturnType<typeof createReader>;

/** Writes instants as English pages do: `2026-03-02 14:05:09`. */
const DATES: Readonly<Record<Language, string>> = { en: 'sv-SE', fr: 'fr-CA' };

/** Makes a function that returns the reader of a language. */
export function createReaders(timezone: string, clock: Clock): (language: Language) => Reader {
  const readers = { en: createReader('en', timezone, clock), fr: createReader('fr', timezone, clock) };
  return (language) => readers[language];
}

function createReader(language: Language, timezone: string, clock: Clock) {
  const translator = translatorFor(language);
  const { t } = translator;
  const format = (timeStyle: 'medium' | 'short'): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(DATES[language], { timeZone: timezone, dateStyle: 'short', timeStyle });
  const second = format('medium');
  const minute = format('short');
  const places = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  const tenths = new Intl.NumberFormat(LOCALES[language], places);
  const time = (at: Date, title: string, words: string): Html =>
    html`<time datetime="${at.toISOString()}" title="${title}">${words}</time>`;
  /** A length of time in its largest unit: `31 s`, `4 min`, `5 h`, `12 days`. */
  const durationText = (ms: number): string => {
    if (ms < 1.5 * MINUTE) return t('{n} s', { n: Math.max(0, Math.round(ms / 1000)) });
    if (ms < 1.5 * HOUR) return t('{n} min', { n: Math.round(ms / MINUTE) });
    if (ms < 1.5 * DAY) return t('{n} h', { n: Math.round(ms / HOUR) });
    return t('{n, number} days', { n: Math.round(ms / DAY) });
  };
  const distance = (at: Date): string => {
    const ms = clock.now().getTime() - at.getTime();
    if (Math.abs(ms) < 1000) return t('just now');
    return ms > 0 ? t('{time} ago', { time: durationText(ms) }) : t('in {time}', { time: durationText(-ms) });
  };
  return {
    ...translator,
    timezone,
    durationText,
    now: () => clock.now(),
    /** Several texts, as headings of a table. */
    tEach: (...texts: readonly MessageKey[]): readonly string[] => texts.map((text) => t(text)),
    /** Formats a stored instant, `YYYY-MM-DD HH:MM:SS` UTC, to the second. */
    exactTime: (text: string, at = parseInstant(text)): Html => time(at, `${text} UTC`, second.format(at)),
    /** How long ago a stored instant was, or how far ahead it is. */
    when: (text: string, at = parseInstant(text)): Html =>
      time(at, `${second.format(at)} ${timezone}, ${text} UTC`, distance(at)),
    minute: (at: Date): string => minute.format(at),
    /** A short time in tenths of a second. */
    tenths: (ms: number): string => t('{n} s', { n: tenths.format(ms / 1000) }),
  };
}

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
