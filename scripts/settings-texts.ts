import { stringify } from 'yaml';
import { valueAt } from '../src/config/layers.ts';
import { SETTING_NODES, SETTINGS, settings, type SettingNode } from '../src/config/settings.ts';

const YAML_HEAD = `# Every setting of bms-sync with its default: copy what you change into a file of your own and name it by --config or BMS_CONFIG.
# Each has an environment variable as well: BMS__ and its path, as in BMS__SOURCE__MAX_ATTEMPTS=3.
# This file is written by: npm run docs -- settings
`;

const TABLE_HEAD = ['| setting | variable | meaning | default |', '|---|---|---|---|'];

/** Writes config/default.yaml: the meaning and the default of each setting. */
export function defaultYaml(): string {
  const defaults = settings.parse({});
  return YAML_HEAD + SETTING_NODES.map((place) => entry(place, valueAt(defaults, place.path))).join('');
}

function entry(place: SettingNode, value: unknown): string {
  const depth = place.path.length - 1;
  const lines = [...commentOn(place), `${place.path.at(-1) ?? ''}:${hasMembers(place) ? '' : inline(value)}`];
  return (depth === 0 ? '\n' : '') + lines.map((line) => `${'  '.repeat(depth)}${line}\n`).join('');
}

function commentOn(place: SettingNode): string[] {
  if (place.info.meaning === undefined) return [];
  const variables = place.info.variables ? ` [${place.info.variables.join(', ')}]` : '';
  return [`# ${place.info.meaning}${variables}`];
}

/** Whether it is a group, whose members have their own entries. */
function hasMembers({ name }: SettingNode): boolean {
  return SETTING_NODES.some((other) => other.name.startsWith(`${name}.`));
}

/** A value on the key's own line. */
function inline(value: unknown): string {
  const isList = Array.isArray(value);
  const style = {
    collectionStyle: 'flow',
    flowCollectionPadding: !isList,
    singleQuote: true,
    lineWidth: 0,
  } as const;
  return ` ${stringify(value, style).trimEnd()}`;
}

/** Draws up the table of docs/settings.md. */
export function settingsTable(): string {
  const defaults = settings.parse({});
  const rows = SETTINGS.map((setting) => rowOf(setting, valueAt(defaults, setting.path)));
  return [...TABLE_HEAD, ...rows].join('\n');
}

function rowOf(setting: SettingNode, value: unknown): string {
  const variables = setting.info.variables ?? [setting.variable];
  const cells = [
    code(setting.name),
    variables.map(code).join(', '),
    setting.info.meaning ?? '',
    defaultOf(value),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function defaultOf(value: unknown): string {
  if (value === null) return 'unset';
  return code(typeof value === 'string' ? value : JSON.stringify(value));
}

function code(text: string): string {
  return `\`${text}\``;
}
