import type { z } from 'zod';
import { didYouMean } from './did-you-mean.ts';
import { PLACES, settingAt } from './known-settings.ts';
import { merged, originOf, valueAt } from './layer.ts';
import type { Layer, Path } from './layer.ts';
import { shown } from './shown.ts';

const NAMES = PLACES.map(({ name }) => name);

/** Words the faults that the schema found: the setting, its origin, the value got and the value expected. */
export function faultsFrom(issues: readonly z.core.$ZodIssue[], layers: readonly Layer[]): string[] {
  return issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => unknownKey([...path, key], layers));
    if (issue.code === 'invalid_key')
      return [wrongKey(path, issue.issues[0]?.message ?? issue.message, layers)];
    return [wrongValue(path, issue.message, layers)];
  });
}

function unknownKey(path: Path, layers: readonly Layer[]): string {
  // Within a map with free keys, such as webhooks, no name of a setting can be meant.
  const guess = settingAt(path) ? '' : didYouMean(path.join('.'), NAMES);
  return `${located(path, layers)}: unknown setting${guess}`;
}

function wrongKey(path: Path, expected: string, layers: readonly Layer[]): string {
  return `${located(path, layers)}: expected the key to be ${expected}`;
}

function wrongValue(path: Path, expected: string, layers: readonly Layer[]): string {
  const value = valueAt(merged(layers), path);
  return `${located(path, layers)}: got ${shown(value, settingAt(path))}; expected ${expected}`;
}

function located(path: Path, layers: readonly Layer[]): string {
  return `${path.join('.')} (from ${originOf(layers, path)})`;
}
