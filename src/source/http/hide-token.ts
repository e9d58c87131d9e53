import { holdsPart, maskSecrets } from '../../lib/mask-secrets.ts';
import { SourceError } from './errors.ts';

export interface Told {
  readonly status: number;
  readonly where: string;
}

/**
 * Creates a wrapper for readers of an answer: an error that would quote the token quotes nothing.
 *
 * Only the quoted text and a little around it is searched: a whole body would take seconds.
 */
export function hideToken({ status, where }: Told, token: string): <T>(read: () => T) => T {
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
