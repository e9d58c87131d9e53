import { html } from '../../http/html.ts';
import type { Html } from '../../http/html.ts';
import { LOCALES, speechIn } from '../../lib/text/speech.ts';
import type { Language, Speech } from '../../lib/text/speech.ts';
import { instantOf } from '../../lib/time/clock.ts';
import type { Clock } from '../../lib/time/clock.ts';

/** Whoever reads a page: texts and numbers in their language, instants in the time zone of the schedules. */
export interface Reader extends Speech {
  readonly timezone: string;
  readonly now: () => Date;
  /** An instant of ours, `YYYY-MM-DD HH:MM:SS` UTC, to the second; its title has it in UTC. */
  readonly exactly: (text: string) => Html;
  /** How long ago an instant of ours was, or in how long it will be. */
  readonly when: (text: string) => Html;
  readonly minute: (at: Date) => string;
  /** A length of time in its largest unit: `31 s`, `4 min`, `5 h`, `12 days`. */
  readonly lasting: (ms: number) => string;
  /** A short one in tenths of a second. */
  readonly tenths: (ms: number) => string;
}

/** Writes instants as English pages do: `2026-03-02 14:05:09`. */
const DATES: Readonly<Record<Language, string>> = { en: 'sv-SE', fr: 'fr-CA' };

/** Makes a function that returns the reader of a language. */
export function readersIn(timezone: string, clock: Clock): (language: Language) => Reader {
  const readers = { en: readerIn('en', timezone, clock), fr: readerIn('fr', timezone, clock) };
  return (language) => readers[language];
}

function readerIn(language: Language, timezone: string, clock: Clock): Reader {
  const speech = speechIn(language);
  const { say } = speech;
  const format = (timeStyle: 'medium' | 'short'): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(DATES[language], { timeZone: timezone, dateStyle: 'short', timeStyle });
  const second = format('medium');
  const minute = format('short');
  const tenths = new Intl.NumberFormat(LOCALES[language], {
    minimumFractionDigits: 1,
    maximumFractionDigits: 1,
  });
  const time = (at: Date, title: string, words: string): Html =>
    html`<time datetime="${at.toISOString()}" title="${title}">${words}</time>`;
  const lasting = (ms: number): string => {
    if (ms < 1.5 * MINUTE) return say('{n} s', { n: Math.max(0, Math.round(ms / 1000)) });
    if (ms < 1.5 * HOUR) return say('{n} min', { n: Math.round(ms / MINUTE) });
    if (ms < 1.5 * DAY) return say('{n} h', { n: Math.round(ms / HOUR) });
    return say('{n, number} days', { n: Math.round(ms / DAY) });
  };
  const distance = (at: Date): string => {
    const ms = clock.now().getTime() - at.getTime();
    if (Math.abs(ms) < 1000) return say('just now');
    return ms > 0 ? say('{time} ago', { time: lasting(ms) }) : say('in {time}', { time: lasting(-ms) });
  };
  return {
    ...speech,
    timezone,
    now: () => clock.now(),
    exactly: (text) => time(instantOf(text), `${text} UTC`, second.format(instantOf(text))),
    when: (text) => {
      const at = instantOf(text);
      return time(at, `${second.format(at)} ${timezone}, ${text} UTC`, distance(at));
    },
    minute: (at) => minute.format(at),
    lasting,
    tenths: (ms) => say('{n} s', { n: tenths.format(ms / 1000) }),
  };
}

const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
