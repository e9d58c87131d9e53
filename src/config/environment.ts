import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type * as z from 'zod';
import { PACKAGE_FOLDER } from '../lib/package-folder.ts';
import { fileFault } from '../lib/sync-error.ts';
import { didYouMean } from '../lib/text/nearest-name.ts';
import { combined, treeWith } from './layer.ts';
import type { ReadLayers } from './layer.ts';
import { PLACES } from './settings.ts';
import type { SettingPlace } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

interface Variable {
  readonly name: string;
  /** Not empty: an empty variable is unset. */
  readonly text: string;
}

const OWN_PREFIX = 'BMS__';
const OWN_VARIABLES = PLACES.map(({ variable }) => variable);

const ENV_FILE = '.env';

/** Adds the variables of a `.env` file, if there is one; the real environment wins. */
export function withEnvFile(env: Environment, path = ENV_FILE): Environment {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return env; // Python keeps a folder of this name.
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')); // Empty is unset.
  return { ...parseEnv(readFileSync(path, 'utf8')), ...set };
}

/** The settings file that a flag or `BMS_CONFIG` names. */
export function settingsFile(env: Environment, flag: string | undefined): string | undefined {
  return flag ?? (env['BMS_CONFIG'] || undefined); // An empty variable is unset.
}

/** The files from which settings are read: `.env`, the settings file, and those that variables name for one value. */
export function filesRead(env: Environment, flag: string | undefined): readonly string[] {
  const variables = PLACES.flatMap(({ about }) => about.variables ?? []).filter((name) => isFile({ name }));
  const named = [settingsFile(env, flag), ...variables.map((name) => env[name])].flatMap(
    (file) => file || [],
  );
  return [ENV_FILE, ...named].filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}

/** Reads the settings that environment variables give, one layer for each variable. */
export function readEnvironment(env: Environment): ReadLayers {
  const own = variablesIn(env).filter(({ name }) => name.startsWith(OWN_PREFIX));
  return combined([
    ...own.sort(deepestFirst).map(ownReading),
    ...PLACES.flatMap((place) => plainReading(place, env)),
  ]);
}

function variablesIn(env: Environment): Variable[] {
  return Object.entries(env).flatMap(([name, text]) => (text ? [{ name, text }] : []));
}

/** A setting's own variable overrides its value in the JSON of its group. */
function deepestFirst(a: Variable, b: Variable): number {
  return b.name.split('__').length - a.name.split('__').length;
}

function ownReading(variable: Variable): ReadLayers {
  const place = PLACES.find((known) => known.variable === variable.name);
  if (place) return valueReading(place, variable);
  return {
    layers: [],
    faults: [`${variable.name}: unknown setting${didYouMean(variable.name, OWN_VARIABLES)}`],
  };
}

/** Of several plain variables for one setting, the first that is set counts; a value beside a file is refused. */
function plainReading(place: SettingPlace, env: Environment): ReadLayers[] {
  const set = (place.about.variables ?? []).flatMap((name) => variablesIn({ [name]: env[name] }));
  const [variable] = set;
  if (!variable) return [];
  if (set.length > 1 && set.some(isFile)) return [{ layers: [], faults: [severalFault(place, set)] }];
  return [isFile(variable) ? fileReading(place, variable) : valueReading(place, variable)];
}

const isFile = ({ name }: Pick<Variable, 'name'>): boolean => name.endsWith('_FILE');

function severalFault(place: SettingPlace, set: readonly Variable[]): string {
  const names = set.map(({ name }) => name).join(' and ');
  return `${place.name}: ${names} are both set; unset one of them`;
}

function fileReading(place: SettingPlace, { name, text: file }: Variable): ReadLayers {
  try {
    const text = readFileSync(file, 'utf8').replace(/[\r\n]+$/, '');
    return text === '' ? fileFaults(place, name, `${file} is empty`) : valueReading(place, { name, text });
  } catch (error) {
    return fileFaults(place, name, `${file} ${fileFault(error)}`);
  }
}

function fileFaults({ name }: SettingPlace, variable: string, fault: string): ReadLayers {
  return { layers: [], faults: [`${name} (from ${variable}): the file ${fault}`] };
}

function valueReading(place: SettingPlace, { name, text }: Variable): ReadLayers {
  return {
    layers: [{ origin: name, values: treeWith(place.path, fromText(text, place.schema)) }],
    faults: [],
  };
}

/** A text that the setting accepts as it stands is taken as text; numbers, lists and maps are parsed as JSON. */
function fromText(text: string, schema: z.ZodType): unknown {
  if (schema.safeParse(text).success) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text; // Validation then reports the expected form.
  }
}

/** The version of bms-sync from its package.json. */
export function packageVersion(): string {
  const text = readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
