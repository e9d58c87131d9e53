import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unescape } from 'node:querystring';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { PACKAGE_FOLDER } from '../lib/package-folder.ts';
import { UsageError, describeFileFault } from '../lib/sync-error.ts';
import { decodeText } from '../lib/text/decode-text.ts';
import { readEnvironment, readValueFile, settingsFile, type Environment } from './environment.ts';
import { formatSchemaFaults } from './faults.ts';
import { isTree, mapAt, nameWithOrigin, mergeLayers, valueAt, type ReadLayer } from './layers.ts';
import { checkNames } from './name-faults.ts';
import { SETTINGS, settings, type Config } from './settings.ts';

type DeepPartial<T> = T extends object ? { readonly [K in keyof T]?: DeepPartial<T[K]> | undefined } : T;

export interface ConfigInputs {
  readonly env: Environment;
  /** A YAML file; where none is given, `BMS_CONFIG` may name one. */
  readonly file?: string | undefined;
  readonly flags?: DeepPartial<Config> | undefined;
}

/**
 * Merges and checks the settings: flags > `BMS__…` > plain variables > file > defaults.
 *
 * @throws {UsageError} With all faults at once, and without any secret.
 */
export function loadConfig({ env, file: fileFlag, flags = {} }: ConfigInputs): Config {
  const file = settingsFile(env, fileFlag);
  const readings: readonly ReadLayer[] = [
    { origin: 'the command line', values: flags },
    ...readEnvironment(env),
    ...(file === undefined ? [] : readConfigFile(file)),
  ];
  const layers = readings.filter((reading) => typeof reading !== 'string');
  const values = mergeLayers(layers);
  const { data, error } = settings.safeParse(values);
  const allFaults = [
    ...readings.filter((reading) => typeof reading === 'string'),
    ...formatSchemaFaults(error?.issues ?? [], layers),
    ...[...checkNames(values)].flatMap(([path, fault]) =>
      fault === null ? [] : [`${nameWithOrigin(layers, path)}: ${fault}`],
    ),
  ];
  const uniqueFaults = [...new Set(allFaults)];
  if (data !== undefined && uniqueFaults.length === 0) {
    const { BMS_TOKEN_FILE: tokenFile } = env;
    const { timezone } = mapAt(values, ['schedules']);
    return {
      ...data,
      ...(tokenFile && data.source.token === readValueFile(tokenFile) && { tokenFile }),
      ...(typeof timezone === 'string' && { calendarZone: timezone }),
    };
  }
  const count = uniqueFaults.length === 1 ? 'One setting is' : `${uniqueFaults.length} settings are`;
  throw invalidSettings([`${count} wrong:`, ...uniqueFaults].join('\n  '));
}

const invalidSettings = (message: string): UsageError =>
  new UsageError(message, { code: 'settings.invalid', hint: `${DEFAULTS} documents every setting.` });

const DEFAULTS = join(PACKAGE_FOLDER, 'config/default.yaml');

function readConfigFile(file: string): readonly ReadLayer[] {
  let text: string;
  try {
    text = decodeText(readFileSync(file));
  } catch (error) {
    throw invalidSettings(`The settings file ${file} ${describeFileFault(error)}.`);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  // The parser's own messages quote the file, secrets included: only its codes are repeated.
  const faults = document.errors.map((error) => {
    const { line, col } = lines.linePos(error.pos[0]);
    return `${file}:${line}:${col}: not valid YAML (${error.code.toLowerCase().replaceAll('_', ' ')})`;
  });
  if (faults.length > 0) return faults;
  const values = documentValues(document);
  return [isTree(values) ? { origin: file, values } : `${file}: expected a map of settings`];
}

/** An empty file sets nothing. */
function documentValues(document: Document.Parsed): unknown {
  try {
    return document.toJS() ?? {};
  } catch {
    return undefined; // An alias without its anchor; the error would quote it, and it may be a secret that begins with *.
  }
}

/** Lists every secret with its setting. */
export const secretSettings = (config: Config) =>
  SETTINGS.flatMap(({ name: setting, path, info }) => {
    const value = valueAt(config, path);
    if (info.secret === undefined || typeof value !== 'string') return [];
    const secrets = info.secret === 'value' ? [value] : passwordsIn(value);
    return [...secrets].flatMap((secret) => (secret === '' ? [] : [{ setting, secret }]));
  });

/** The passwords of a URL, encoded and decoded: libraries print either. */
function passwordsIn(url: string): ReadonlySet<string> {
  const { password, searchParams } = new URL(url);
  return new Set([password, unescape(password), ...searchParams.getAll('password')]);
}

/** Lists every secret in the settings, so that logs can mask it. */
export const listSecrets = (config: Config) => secretSettings(config).map(({ secret }) => secret);
