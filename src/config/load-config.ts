import { readFileSync } from 'node:fs';
import { unescape } from 'node:querystring';
import { LineCounter, parseDocument, type Document } from 'yaml';
import { UsageError, fileFault } from '../lib/sync-error.ts';
import { decodeText } from '../lib/text/decode-text.ts';
import { readEnvironment, readValueFile, settingsFile, type Environment } from './environment.ts';
import { faultsFrom } from './faults.ts';
import { furtherKindFaults } from './further-kind-faults.ts';
import { combined, isTree, located, merged, type ReadLayers } from './layer.ts';
import { namedKindFaults, privacyFaults } from './named-kind-faults.ts';
import { settings, type Config } from './settings.ts';

type DeepPartial<T> = T extends object ? { readonly [K in keyof T]?: DeepPartial<T[K]> | undefined } : T;

export interface ConfigInputs {
  readonly env: Environment;
  /** A YAML file; where none is given, `BMS_CONFIG` may name one. */
  readonly file?: string | undefined;
  readonly flags?: DeepPartial<Config> | undefined;
}

/** What the schema cannot check, because it sees each setting by itself. They run all the same where it has found faults. */
const CROSS_CHECKS = [furtherKindFaults, namedKindFaults, privacyFaults];

/**
 * Merges and checks the settings: flags > `BMS__…` > plain variables > file > defaults.
 *
 * @throws {UsageError} With all faults at once, and without any secret.
 */
export function loadConfig({ env, file: given, flags = {} }: ConfigInputs): Config {
  const file = settingsFile(env, given);
  const { layers, faults } = combined([
    { layers: [{ origin: 'the command line', values: flags }], faults: [] },
    readEnvironment(env),
    ...(file === undefined ? [] : [readConfigFile(file)]),
  ]);
  const values = merged(layers);
  const { data, error } = settings.safeParse(values);
  const found = [
    ...faults,
    ...faultsFrom(error?.issues ?? [], layers),
    ...CROSS_CHECKS.flatMap((check) => check(values)).map(
      (settingFault) => `${located(layers, settingFault.path)}: ${settingFault.fault}`,
    ),
  ];
  const all = [...new Set(found)];
  if (data !== undefined && all.length === 0) {
    const { BMS_TOKEN_FILE: tokenFile } = env;
    return tokenFile && data.source.token === readValueFile(tokenFile) ? { ...data, tokenFile } : data;
  }
  const count = all.length === 1 ? 'One setting is' : `${all.length} settings are`;
  throw new UsageError([`${count} wrong:`, ...all].join('\n  '), {
    code: 'settings.invalid',
    hint: 'config/default.yaml documents every setting.',
  });
}

function readConfigFile(file: string): ReadLayers {
  let text: string;
  try {
    text = decodeText(readFileSync(file));
  } catch (error) {
    return { layers: [], faults: [`the settings file ${file} ${fileFault(error)}`] };
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  // The parser's own messages quote the file, secrets included: only its codes are repeated.
  const faults = document.errors.map((yAMLError) => {
    const { line, col } = lines.linePos(yAMLError.pos[0]);
    return `${file}:${line}:${col}: not valid YAML (${yAMLError.code.toLowerCase().replaceAll('_', ' ')})`;
  });
  if (faults.length > 0) return { layers: [], faults };
  const values = plainValues(document);
  if (isTree(values)) return { layers: [{ origin: file, values }], faults: [] };
  return { layers: [], faults: [`${file}: expected a map of settings`] };
}

/** An empty file sets nothing. */
function plainValues(document: Document.Parsed): unknown {
  try {
    return document.toJS() ?? {};
  } catch {
    return undefined; // An alias without its anchor; the error would quote it, and it may be a secret that begins with *.
  }
}

/** Lists every secret in the settings, so that logs can mask it; a URL's password encoded and decoded: libraries print either. */
export function secretsOf(config: Config): readonly string[] {
  const passwords = [config.source.proxyUrl, config.database.url, config.queue.url, config.mail.url].flatMap(
    (url) => {
      if (url === null) return [];
      const { password, searchParams } = new URL(url);
      return [...new Set([password, unescape(password), ...searchParams.getAll('password')])];
    },
  );
  return [config.source.token, config.server.adminToken, config.monitor.pingUrl, ...passwords]
    .filter((secret) => secret !== null)
    .filter((secret) => secret !== '');
}
