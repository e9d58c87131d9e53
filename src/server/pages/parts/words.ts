import { instantOf } from '../../../lib/time/clock.ts';
import { html } from './html.ts';
import type { Html } from './html.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];

/** A length of time in its largest unit: `31 s`, `4 min`, `5 h`, `12 days`. */
export function roughly(ms: number): string {
  if (ms < 1.5 * MINUTE) return `${Math.max(0, Math.round(ms / 1000))} s`;
  if (ms < 1.5 * HOUR) return `${Math.round(ms / MINUTE)} min`;
  if (ms < 1.5 * DAY) return `${Math.round(ms / HOUR)} h`;
  return `${Math.round(ms / DAY)} days`;
}

/** How long ago an instant was, or in how long it will be. */
export function distance(instant: Date, now: Date): string {
  const ms = now.getTime() - instant.getTime();
  if (Math.abs(ms) < 1000) return 'just now';
  return ms > 0 ? `${roughly(ms)} ago` : `in ${roughly(-ms)}`;
}

/** One of our instants, as its distance from now; the exact instant is in its title. */
export function when(text: string, now: Date): Html {
  const instant = instantOf(text);
  return html`<time datetime="${instant.toISOString()}" title="${text} UTC">${distance(instant, now)}</time>`;
}

/** One of our instants to the second. */
export function exactly(text: string): Html {
  return html`<time datetime="${instantOf(text).toISOString()}">${text.slice(0, 19)}</time>`;
}

export const count = (number: number): string => number.toLocaleString('en-US');

/** A number with its noun: `1 row`, `2,000 rows`. */
export const counted = (number: number, noun: string, nouns = `${noun}s`): string =>
  `${count(number)} ${number === 1 ? noun : nouns}`;

/** A clause as a sentence. */
export const sentence = (clause: string): string => `${clause.slice(0, 1).toUpperCase()}${clause.slice(1)}.`;

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** A size in its largest unit: `340 MB`. */
export function bytesText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1000 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[power] ?? ''}`;
}
