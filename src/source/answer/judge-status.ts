import { excerpt, SourceError } from '../http/errors.ts';
import type { SourceReason } from '../http/errors.ts';

const WORDS: Readonly<Record<number, SourceReason>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  410: 'not_found',
};

/** Client errors that are temporary. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429]);

interface RefusedAnswer {
  readonly status: number;
  /** The beginning of the body. */
  readonly text: string;
  readonly location: string;
  /** The wait that the service asks for, in milliseconds. */
  readonly waitMs: number | null;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** Names the fault behind a status other than 2xx. */
export function statusFault({ status, text, location, waitMs }: RefusedAnswer, where: string): SourceError {
  const got = `${where}: got status ${status}`;
  if (status >= 500 || PASSING.has(status)) {
    return new SourceError('unavailable', `${got}, ${shown(text)}`, { passing: { waitMs }, quoted: text });
  }
  if (status >= 300 && status < 400) {
    return new SourceError('redirected', `${got} to ${hostOf(location)}, expected the answer itself`);
  }
  return new SourceError(WORDS[status] ?? 'rejected', `${got}, ${shown(text)}`, { quoted: text });
}

function shown(text: string): string {
  return text.trim() === '' ? 'without a body' : excerpt(text);
}

/** Only the host: the rest of a redirect's address may hold secrets. */
function hostOf(location: string): string {
  return URL.canParse(location) ? new URL(location).host : 'another path';
}
