import { unescape } from 'node:querystring';
import { UsageError } from '../lib/sync-error.ts';
import { readConfigFile } from './config-file.ts';
import { readEnvironment } from './environment.ts';
import type { Environment } from './environment.ts';
import { faultsFrom } from './faults.ts';
import { furtherKindFaults } from './further-kind-faults.ts';
import { unknownKinds } from './kind-names.ts';
import { combined, merged } from './layer.ts';
import { scheduleFaults } from './schedule-faults.ts';
import { settings } from './settings.ts';
import type { Config } from './settings.ts';

type DeepPartial<T> = T extends object ? { readonly [K in keyof T]?: DeepPartial<T[K]> | undefined } : T;

/** Where settings come from. */
export interface ConfigInputs {
  readonly env: Environment;
  /** A YAML file. */
  readonly file?: string | undefined;
  /** Settings of the command line; undefined is not set. */
  readonly flags?: DeepPartial<Config> | undefined;
}

/**
 * Merges and checks the settings: flags > `BMS__…` > plain variables > file > defaults.
 *
 * @throws {UsageError} With all faults at once, and without any secret.
 */
export function loadConfig({ env, file, flags = {} }: ConfigInputs): Config {
  const { layers, faults } = combined([
    { layers: [{ origin: 'the command line', values: flags }], faults: [] },
    readEnvironment(env),
    ...(file === undefined ? [] : [readConfigFile(file)]),
  ]);
  const values = merged(layers);
  const { data, error } = settings.safeParse(values);
  const all = [
    ...faults,
    ...faultsFrom(error?.issues ?? [], layers),
    ...furtherKindFaults(values, layers),
    ...unknownKinds(values, layers),
    ...scheduleFaults(values, layers),
  ];
  if (data === undefined || all.length > 0) throw badSettings(all);
  return data;
}

function badSettings(faults: readonly string[]): UsageError {
  const count = faults.length === 1 ? 'One setting is' : `${faults.length} settings are`;
  return new UsageError([`${count} wrong:`, ...faults].join('\n  '), {
    code: 'settings.invalid',
    hint: 'config/default.yaml documents every setting.',
  });
}

/** Lists every secret in the settings, so that logs can mask it. */
export function secretsOf({ source, server, database, queue, webhooks }: Config): readonly string[] {
  const secrets = [
    source.token,
    server.adminToken,
    ...[source.proxyUrl, database.url, queue.url].flatMap(passwordsIn),
    ...Object.values(webhooks).flatMap(({ url, secret }) => [secret, ...passwordsIn(url)]),
  ];
  return secrets.filter((secret) => secret !== null).filter((secret) => secret !== '');
}

/** A URL's password, both encoded and decoded: libraries print either. */
function passwordsIn(url: string | null): string[] {
  if (url === null) return [];
  const { password, searchParams } = new URL(url);
  return [...new Set([password, unescape(password), ...searchParams.getAll('password')])];
}
