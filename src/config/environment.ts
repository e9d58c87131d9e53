import { readFileSync, statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import * as z from 'zod';
import { describeFileFault } from '../lib/sync-error.ts';
import { decodeText } from '../lib/text/decode-text.ts';
import { didYouMean } from '../lib/text/nearest-name.ts';
import { nestAt, type ReadLayer } from './layers.ts';
import { SETTINGS, SETTING_NODES, type SettingNode } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const SETTING_PREFIX = 'BMS__';
const MAPS = SETTINGS.filter((node) => node.schema.safeParse({}).success);
const SETTING_VARIABLES = SETTING_NODES.map((node) => node.variable);

const ENV_FILE = '.env';

/** Adds the variables of a `.env` file, if there is one; the real environment wins. */
export function addEnvFile(env: Environment, path = ENV_FILE): Environment {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return env; // Python keeps a folder of this name.
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')); // Empty is unset.
  return { ...parseEnv(decodeText(readFileSync(path))), ...set };
}

export function settingsFile(env: Environment, flag: string | undefined): string | undefined {
  return flag ?? (env['BMS_CONFIG'] || undefined); // An empty variable is unset.
}

/** The files from which settings are read: `.env`, the settings file, and the files that variables name for one value. */
export function listConfigFiles(env: Environment, flag: string | undefined): readonly string[] {
  const variables = SETTING_NODES.flatMap((node) => node.info.variables ?? []).filter(isFile);
  const named = [settingsFile(env, flag), ...variables.map((name) => env[name])].flatMap(
    (file) => file || [],
  );
  return [ENV_FILE, ...named].filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}

/** Reads the settings that environment variables give, one layer for each variable; an empty one is unset. */
export function readEnvironment(env: Environment): readonly ReadLayer[] {
  const ownNames = Object.keys(env).filter((name) => name.startsWith(SETTING_PREFIX) && env[name]);
  // A setting's own variable overrides its value in the JSON of its group.
  ownNames.sort((a, b) => b.split('__').length - a.split('__').length);
  const unknown = Object.keys(env).filter((name) => isUnknown(name) && env[name]);
  return [
    ...unknown.map((name) => `${name}: unknown variable${didYouMean(name, PLAIN_VARIABLES)}`),
    ...ownNames.map((name) => {
      const node = SETTING_NODES.find((candidate) => candidate.variable === name);
      if (node) return readVariableValue(node, name, env[name] ?? '');
      const map = MAPS.findLast(({ variable }) => name.startsWith(`${variable}__`));
      const guess = didYouMean(name, SETTING_VARIABLES, map && 1); // In a map with free keys, another name is seldom meant.
      const isKey = map && guess === '' ? `; the names in ${map.name} go as JSON into ${map.variable}` : '';
      return `${name}: unknown setting${guess}${isKey}`;
    }),
    ...SETTING_NODES.flatMap((node) => readPlainVariable(node, env)),
  ];
}

const PLAIN_VARIABLES = ['BMS_CONFIG', ...SETTING_NODES.flatMap((node) => node.info.variables ?? [])];
/** Our tests and proofs have variables too. */
const OTHER_VARIABLE = /^BMS_(?:_|TEST_|WORLD_|MALFORMED_)/;

/** A misspelt variable would otherwise be ignored silently. */
const isUnknown = (name: string): boolean =>
  name.startsWith('BMS_') && !OTHER_VARIABLE.test(name) && !PLAIN_VARIABLES.includes(name);

/** Of several plain variables for one setting, the first that is set counts; a value beside a file is refused. */
function readPlainVariable(node: SettingNode, env: Environment): readonly ReadLayer[] {
  const set = (node.info.variables ?? []).filter((name) => env[name]);
  const [name] = set;
  if (name === undefined) return [];
  if (set.length > 1 && set.some(isFile))
    return [`${node.name}: ${set.join(' and ')} are both set; unset one`];
  const text = env[name] ?? '';
  return [isFile(name) ? readFileVariable(node, name, text) : readVariableValue(node, name, text)];
}

const isFile = (variable: string): boolean => variable.endsWith('_FILE');

export const readValueFile = (file: string): string =>
  decodeText(readFileSync(file)).replace(/(?<![\r\n])[\r\n]+$/, '');

function readFileVariable(node: SettingNode, name: string, file: string): ReadLayer {
  const origin = `${node.name} (from ${name}): the file ${file}`;
  try {
    const text = readValueFile(file);
    return text === '' ? `${origin} is empty` : readVariableValue(node, name, text);
  } catch (error) {
    return `${origin} ${describeFileFault(error)}`;
  }
}

function readVariableValue(node: SettingNode, origin: string, text: string): ReadLayer {
  return { origin, values: nestAt(node.path, parseSettingText(text, node.schema)) };
}

/** One part alone is a list only where nothing else is expected: another word is a mistake. */
function isList(text: string, schema: z.ZodType): boolean {
  const filled = schema instanceof z.ZodDefault ? schema.unwrap() : schema;
  const inner = filled instanceof z.ZodNullable ? filled.unwrap() : filled;
  return !/^\s*[[{]/.test(text) && (text.includes(',') || inner instanceof z.ZodArray);
}

/** Parts between commas: numbers, or texts. */
function parseList(text: string): unknown {
  try {
    return JSON.parse(`[${text}]`);
  } catch {
    return text.split(',').map((part) => part.trim());
  }
}

/** A text that the setting accepts as it stands is taken as text; numbers, lists and maps are JSON, and a list may be `a,b`. */
function parseSettingText(text: string, schema: z.ZodType): unknown {
  if (schema.safeParse(text).success) return text;
  try {
    return JSON.parse(text);
  } catch {
    const list = isList(text, schema) ? parseList(text) : text;
    return schema.safeParse(list).success ? list : text; // Validation then reports the expected form.
  }
}
