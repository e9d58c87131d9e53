import type { Shape } from '../../catalog/kind.ts';
import { html, type Html } from '../../http/html.ts';
import { dateFormat, LOCALES, translatorFor, type Language } from '../../lib/text/translator.ts';
import { parseInstant, type Clock } from '../../lib/time/clock.ts';

/** The reader of a page: texts and numbers in their language, instants in the time zone of the schedules. */
export type Reader = ReturnType<ReturnType<typeof createReaders>>;

/** @param shapes The kinds and their lists, whose fields say how values are shown. */
export function createReaders(timezone: string, clock: Clock, shapes: readonly Shape[] = []) {
  const create = (language: Language) => ({ ...createReader(language, timezone, clock), shapes });
  const readers = { en: create('en'), fr: create('fr') };
  return (language: Language) => readers[language];
}

function createReader(language: Language, timezone: string, clock: Clock) {
  const translator = translatorFor(language);
  const { t } = translator;
  const short = dateFormat(language, timezone);
  const full = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'medium',
  });
  const places = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  const tenths = new Intl.NumberFormat(LOCALES[language], places);
  /** Writes an instant, if there is one; the title has the whole of it, in the zone of the reader and in UTC. */
  const timeIn = (words: (at: Date) => string) => {
    function show(text: string): Html;
    function show(text: string | null): Html | null;
    function show(text: string | null): Html | null {
      if (text === null) return null;
      const at = parseInstant(text);
      const local = timezone === 'UTC' ? '' : `${full.format(at)} ${timezone}, `;
      return html`<time datetime="${at.toISOString()}" title="${local}${text} UTC">${words(at)}</time>`;
    }
    return show;
  };
  const date = (at: Date): string => short.format(at);
  const day = new Intl.DateTimeFormat(LOCALES[language], { timeZone: timezone, dateStyle: 'full' });
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
    date: (text: string) => date(parseInstant(text)),
    minute: date,
    /** The day of a stored instant, in words. */
    day: (text: string): string => day.format(parseInstant(text)),
    /** The same as `YYYY-MM-DD HH:MM:SS` in the zone. */
    localTime: (text: string): string => full.format(parseInstant(text)),
    /** Today, or a day before, as `YYYY-MM-DD`. */
    dayBefore: (days: number): string =>
      new Date(Date.parse(full.format(clock.now()).slice(0, 10)) - days * DAY).toISOString().slice(0, 10),
    /** Formats a stored instant, `YYYY-MM-DD HH:MM:SS` UTC, to the minute. */
    exactTime: timeIn(date),
    /** How long ago a stored instant was, or how far ahead it is. */
    when: timeIn(distance),
    tenths: (ms: number): string => t('{n} s', { n: tenths.format(ms / 1000) }),
  };
}

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
