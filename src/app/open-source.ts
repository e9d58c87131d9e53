import type { Config } from '../config/settings.ts';
import { UsageError } from '../lib/sync-error.ts';
import type { SourceParts } from '../source/http/http.ts';
import { openSource } from '../source/source.ts';
import type { Source } from '../source/source.ts';

/**
 * Creates the client of the service.
 *
 * @throws {UsageError} If its address or the token is not set; the error names both at once.
 */
export function openConfiguredSource({ source }: Config, parts: SourceParts): Source {
  const { baseUrl, token } = source;
  if (baseUrl !== null && token !== null) return openSource({ ...source, baseUrl, token }, parts);
  const missing: string[] = [];
  if (baseUrl === null) missing.push('BMS_BASE_URL (source.baseUrl)');
  if (token === null) missing.push('BMS_TOKEN (source.token)');
  const them = missing.length > 1 ? 'them' : 'it';
  const are = missing.length > 1 ? 'are' : 'is';
  throw new UsageError(`This command calls the service, and ${missing.join(' and ')} ${are} not set.`, {
    code: 'settings.source',
    hint: `Set ${them} in the environment, in .env or in the settings file (--config or BMS_CONFIG); bms-sync demo needs neither.`,
  });
}
