import { holdsSecret } from '../lib/secret-pattern.ts';
import { SourceError } from './errors.ts';
import type { HttpAnswer } from './receive.ts';

export interface Told extends Pick<HttpAnswer, 'bytes' | 'status'> {
  readonly where: string;
}

/** Makes what runs a reading of an answer: an error that would quote a body with the token in it quotes nothing. */
export function hideToken({ bytes, status, where }: Told, token: string): <T>(read: () => T) => T {
  return (read) => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      // The message may quote a header, or what the body spells with escapes.
      const texts = [error.message, new TextDecoder().decode(bytes)];
      if (!texts.some((text) => holdsSecret(text, token))) throw error;
      const message = `${where}: got an answer that repeats the token (status ${status})`;
      throw new SourceError(error.reason, message, error.passing && { passing: error.passing });
    }
  };
}
