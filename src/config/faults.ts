import type * as z from 'zod';
import { didYouMean } from '../lib/text/nearest-name.ts';
import { located, merged, valueAt, type Layer, type Path } from './layer.ts';
import { PLACES, settingAt, type SettingPlace } from './settings.ts';

const NAMES = PLACES.map((place) => place.name);
const LONGEST = 60;
const HARMLESS_URL = /^([a-z]+:\/\/)?[\w.-]+(:\d{2,5})?(\/[\w./-]*)?$/i;

/** Words the faults that the schema found: the setting, its origin, the value got and the value expected. */
export function faultsFrom(issues: readonly z.core.$ZodIssue[], layers: readonly Layer[]): string[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => {
        const keyPath = [...path, key];
        // Within a map with free keys, such as kinds, no name of a setting can be meant.
        const guess = settingAt(keyPath) ? '' : didYouMean(keyPath.join('.'), NAMES);
        return `${located(layers, keyPath)}: unknown setting${guess}`;
      });
    if (issue.code !== 'invalid_key') return [wrongValue(path, issue.message, layers)];
    const expected = issue.issues[0]?.message ?? issue.message;
    return [`${located(layers, path)}: expected the key to be ${expected}`];
  });
}

const BROKEN_JSON = '; it begins like JSON, and is not valid JSON (names and texts stand in double quotes)';

function wrongValue(path: Path, expected: string, layers: readonly Layer[]): string {
  const value = valueAt(merged(layers), path);
  const setting = settingAt(path);
  // From a variable, a list or a map in valid JSON would be one.
  const isBrokenJson = typeof value === 'string' && /^\s*[[{]/.test(value);
  const isShown = typeof value === 'string' && !isHidden(value, setting);
  const advice = isShown ? (MEANT[setting?.name ?? '']?.(value) ?? '') : '';
  return `${located(layers, path)}: got ${shown(value, setting)}; expected ${expected}${isBrokenJson ? BROKEN_JSON : advice}`;
}

/** Words a value for a message; for a secret, and a value that may contain one, only its type and length. */
function shown(value: unknown, setting: SettingPlace | undefined): string {
  if (isHidden(value, setting)) return shapeOf(value);
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined) return 'nothing';
  return json.length > LONGEST ? `${json.slice(0, LONGEST)}…` : json;
}

/** Whether a value is a secret, or may have a part that is a password. */
function isHidden(value: unknown, setting: SettingPlace | undefined): boolean {
  if (setting === undefined || setting.about.secret === 'value') return true;
  return setting.about.secret === 'password' && !(typeof value === 'string' && HARMLESS_URL.test(value));
}

function shapeOf(value: unknown): string {
  if (typeof value === 'string') return `a text of ${value.length} characters (not shown)`;
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

const LOCAL = /^(localhost|[\d.]+)(:|\/|$)/;

/** Settings to the value that a wrong one was probably meant to be. */
const MEANT: Readonly<Record<string, (wrong: string) => string>> = {
  'source.baseUrl': (wrong) => withScheme(wrong, LOCAL.test(wrong) ? 'http://' : 'https://'),
  'source.proxyUrl': (wrong) => withScheme(wrong, 'http://'),
  'queue.url': (wrong) => withScheme(wrong, 'redis://'),
  'database.url': (wrong) => withScheme(wrong, 'file:'),
  'schedules.timezone': (wrong) => didYouMean(wrong, Intl.supportedValuesOf('timeZone')),
};

/** Ends a message about a URL: `; did you mean https://your-company.example?`, or nothing. */
function withScheme(wrong: string, scheme: string): string {
  return /^[a-z]+:\/\//i.test(wrong) || wrong === '' ? '' : `; did you mean ${scheme}${wrong}?`;
}
