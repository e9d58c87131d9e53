import type { SettingPlace } from './known-settings.ts';

const LONGEST = 60;
const HARMLESS_URL = /^([a-z]+:\/\/)?[\w.-]+(\/[\w./-]*)?$/i;

/** Words a value for a message; for a secret, and a value that may contain one, only its type and length. */
export function shown(value: unknown, setting: SettingPlace | undefined): string {
  if (setting === undefined || setting.about.secret === 'value') return shapeOf(value);
  if (setting.about.secret === 'password' && !isHarmlessUrl(value)) return shapeOf(value);
  const json = JSON.stringify(value) as string | undefined;
  if (json === undefined) return 'nothing';
  return json.length > LONGEST ? `${json.slice(0, LONGEST)}…` : json;
}

/** Whether an invalid URL has no part that could be a password. */
function isHarmlessUrl(value: unknown): boolean {
  return typeof value === 'string' && HARMLESS_URL.test(value);
}

function shapeOf(value: unknown): string {
  if (typeof value === 'string') return `a text of ${value.length} characters (not shown)`;
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}
