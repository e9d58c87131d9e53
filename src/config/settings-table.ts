import { describe, SETTINGS } from './known-settings.ts';
import type { SettingPlace } from './known-settings.ts';
import { valueAt } from './layer.ts';
import { settings } from './settings.ts';

const HEAD = ['| setting | variable | meaning | default |', '|---|---|---|---|'];

/** Draws up the table of docs/settings.md. */
export function settingsTable(): string {
  const defaults = settings.parse({});
  const rows = SETTINGS.map((setting) => rowOf(setting, valueAt(defaults, setting.path)));
  return [...HEAD, ...rows].join('\n');
}

function rowOf(setting: SettingPlace, value: unknown): string {
  const variables = setting.about.variables ?? [setting.variable];
  const cells = [code(setting.name), variables.map(code).join(', '), describe(setting), defaultOf(value)];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function defaultOf(value: unknown): string {
  if (value === null) return 'unset';
  return code(typeof value === 'string' ? value : JSON.stringify(value));
}

function code(text: string): string {
  return `\`${text}\``;
}
