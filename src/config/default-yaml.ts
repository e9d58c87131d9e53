import { stringify } from 'yaml';
import { describe, PLACES } from './known-settings.ts';
import type { SettingPlace } from './known-settings.ts';
import { isTree, valueAt } from './layer.ts';
import { settings } from './settings.ts';

const HEAD = `# Every setting of bms-sync with its default: copy what you change into a file of your own and give it by --config.
# Each has an environment variable as well: BMS__ and its path, as in BMS__SOURCE__MAX_ATTEMPTS=3.
# This file is written by: npm run docs:settings
`;

/** Writes config/default.yaml: the meaning and the default of each setting. */
export function defaultYaml(): string {
  const defaults = settings.parse({});
  return HEAD + PLACES.map((place) => entry(place, valueAt(defaults, place.path))).join('');
}

function entry(place: SettingPlace, value: unknown): string {
  const depth = place.path.length - 1;
  const lines = [...commentOn(place), `${place.path.at(-1) ?? ''}:${inline(value)}`];
  return (depth === 0 ? '\n' : '') + lines.map((line) => `${'  '.repeat(depth)}${line}\n`).join('');
}

function commentOn(place: SettingPlace): string[] {
  if (place.about.meaning === undefined) return [];
  const variables = place.about.variables ? ` [${place.about.variables.join(', ')}]` : '';
  return [`# ${describe(place)}${variables}`];
}

/** A value on the key's own line; nothing for a group, whose members have their own entries. */
function inline(value: unknown): string {
  if (isTree(value) && Object.keys(value).length > 0) return '';
  return ` ${stringify(value, { collectionStyle: 'flow', flowCollectionPadding: false, lineWidth: 0 }).trimEnd()}`;
}
