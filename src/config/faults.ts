import type * as z from 'zod';
import { didYouMean } from '../lib/text/nearest-name.ts';
import { nameWithOrigin, mergeLayers, valueAt, type Layer, type Path } from './layers.ts';
import { SETTING_NODES, findSetting, type SettingNode } from './settings.ts';

const NAMES = SETTING_NODES.map((node) => node.name);
const MAX_SHOWN_LENGTH = 60;
const HARMLESS_URL = /^([a-z]+:\/\/)?[\w.-]+(:\d{2,5})?(\/[\w./-]*)?$/i;

/** Formats the schema's faults: setting, origin, actual value, expected value. */
export function formatSchemaFaults(issues: readonly z.core.$ZodIssue[], layers: readonly Layer[]): string[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => {
        const keyPath = [...path, key];
        // Within a map with free keys, such as kinds, no name of a setting can be meant.
        const guess = findSetting(keyPath) ? '' : didYouMean(keyPath.join('.'), NAMES);
        return `${nameWithOrigin(layers, keyPath)}: unknown setting${guess}`;
      });
    return [formatWrongValue(path, issue, layers)];
  });
}

const BROKEN_JSON = '; this is not valid JSON (names and texts need double quotes)';

function formatWrongValue(path: Path, issue: z.core.$ZodIssue, layers: readonly Layer[]): string {
  const value = valueAt(mergeLayers(layers), path);
  const setting = findSetting(path);
  // A list or a map in valid JSON would have been parsed.
  const isBrokenJson = typeof value === 'string' && /^\s*[[{]/.test(value);
  const isShown = typeof value === 'string' && !isHidden(value, setting);
  const known = issue.code === 'invalid_value' ? issue.values.map(String) : [];
  const advice = isShown ? didYouMean(value, known) : '';
  return `${nameWithOrigin(layers, path)}: got ${formatShownValue(value, setting)}; expected ${issue.message}${isBrokenJson ? BROKEN_JSON : advice}`;
}

/** Words a value for a message; for a secret, and a value that may contain one, only its type and length. */
function formatShownValue(value: unknown, setting: SettingNode | undefined): string {
  if (value === undefined || (value === null && isHidden(value, setting))) return 'nothing';
  if (!isHidden(value, setting)) {
    const json = JSON.stringify(value);
    return json.length > MAX_SHOWN_LENGTH ? `${json.slice(0, MAX_SHOWN_LENGTH)}…` : json;
  }
  if (typeof value === 'string') return `a text of ${value.length} characters (not shown)`;
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a map' : `a ${typeof value}`;
}

/** Whether a value is a secret, or may have a part that is a password. */
function isHidden(value: unknown, setting: SettingNode | undefined): boolean {
  if (setting === undefined || setting.info.secret === 'value') return true;
  return setting.info.secret === 'password' && !(typeof value === 'string' && HARMLESS_URL.test(value));
}
