import type { AuthHeader } from '../../catalog/kind.ts';
import { holdsPart, maskSecrets } from '../../lib/text/mask-secrets.ts';
import { SourceError } from './errors.ts';
import type { SourceSettings } from './http.ts';

/** The spellings of §5: the documentation uses all three and does not say which one counts. */
const SPELLINGS: readonly AuthHeader[] = ['Authentication', 'Authorization', 'Authentification'];

interface TokenPlace {
  /** The header that the documentation names for the endpoint. */
  readonly header: AuthHeader;
  /** Headers for the token, where they are not those of the settings. */
  readonly tokenUnder?: readonly string[];
}

/** The headers that carry the token of one request. */
export function tokenHeaders(
  { token, authHeaders }: SourceSettings,
  { header, tokenUnder }: TokenPlace,
): Record<string, string> {
  const bySetting = authHeaders === 'all' ? SPELLINGS : authHeaders === 'documented' ? [header] : authHeaders;
  return Object.fromEntries((tokenUnder ?? bySetting).map((name) => [name, `Bearer ${token}`]));
}

interface AnswerPlace {
  readonly status: number;
  readonly where: string;
}

/**
 * Creates a wrapper for readers of an answer: an error that would quote the token quotes nothing.
 *
 * Only the quoted text and a little around it is searched: a whole body would take seconds.
 */
export function redactErrors({ status, where }: AnswerPlace, token: string): <T>(read: () => T) => T {
  return (read) => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      const mask = maskSecrets([token]);
      if (!error.shows((text) => mask(text) !== text || holdsPart(text, token))) throw error;
      const message = `${where}: got an answer that repeats the token (status ${status})`;
      throw new SourceError(error.reason, message, { passing: error.passing });
    }
  };
}
