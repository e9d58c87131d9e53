import type { Config } from '../config/settings.ts';
import { readValueFile } from '../config/environment.ts';
import * as a from '../config/groups/value-types.ts';
import { UsageError, describeFileFault } from '../lib/sync-error.ts';
import { addSecret } from '../lib/text/mask-secrets.ts';
import type { SourceParts } from '../source/http/http.ts';
import { openSource, type Source } from '../source/source.ts';

/** Creates the client of the service. @throws {UsageError} If its address or the token is not set; the error names both at once. */
export function openConfiguredSource(config: Config, parts: SourceParts): Source {
  const { source, tokenFile } = config;
  const { baseUrl, token } = source;
  if (baseUrl !== null && token !== null) {
    const settings = { ...source, baseUrl, token };
    const renewToken = (refused: string): boolean => {
      if (tokenFile !== undefined && settings.token === refused)
        settings.token = rereadToken(tokenFile, parts) ?? refused;
      return settings.token !== refused;
    };
    return openSource(Object.assign(settings, { renewToken }), parts);
  }
  const missing: string[] = [];
  if (baseUrl === null) missing.push('BMS_BASE_URL (source.baseUrl)');
  if (token === null) missing.push('BMS_TOKEN (source.token)');
  throw new UsageError(`This command calls the service, and needs ${missing.join(' and ')}.`, {
    code: 'settings.source',
    hint: 'Set that in the environment, in .env or in the settings file (--config or BMS_CONFIG); bms-sync demo needs neither.',
  });
}

/** The token that its file has by now; null if there is none, or it is not a token. */
function rereadToken(file: string, parts: SourceParts): string | null {
  try {
    const token = a.token.parse(readValueFile(file));
    addSecret(token);
    return token;
  } catch (error) {
    const event = 'source.token_file';
    parts.logger.error(
      { event },
      `the file ${file} (BMS_TOKEN_FILE) ${describeFileFault(error)}; keeping the previous token`,
    );
    return null;
  }
}
