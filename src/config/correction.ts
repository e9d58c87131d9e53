import { didYouMean } from '../lib/text/nearest-name.ts';

const LOCAL = /^(localhost|[\d.]+)(:|\/|$)/;

/** Settings to the value that a wrong one was probably meant to be. */
const MEANT: Readonly<Record<string, (wrong: string) => string>> = {
  'source.baseUrl': (wrong) => withScheme(wrong, LOCAL.test(wrong) ? 'http://' : 'https://'),
  'source.proxyUrl': (wrong) => withScheme(wrong, 'http://'),
  'queue.url': (wrong) => withScheme(wrong, 'redis://'),
  'database.url': (wrong) => withScheme(wrong, 'file:'),
  'schedules.timezone': (wrong) => didYouMean(wrong, Intl.supportedValuesOf('timeZone')),
};

/** Ends a message about a wrong value: `; did you mean https://your-company.example?`, or nothing. */
export function correction(setting: string, wrong: string): string {
  return MEANT[setting]?.(wrong) ?? '';
}

function withScheme(wrong: string, scheme: string): string {
  return /^[a-z]+:\/\//i.test(wrong) || wrong === '' ? '' : `; did you mean ${scheme}${wrong}?`;
}
