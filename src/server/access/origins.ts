import type { Problem } from '../answer/problem.ts';

const FOREIGN: Problem = {
  status: 403,
  code: 'http.foreign_origin',
  detail: 'A page of another origin asked for a change.',
};

/** Whether an `Origin` is that of the page that this host serves. */
function isOwn(origin: string, host: string): boolean {
  const url = URL.canParse(origin) ? new URL(origin) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  const asked = `${url.protocol}//${host}`;
  return URL.canParse(asked) && new URL(asked).host === url.host;
}

interface Origins {
  readonly origin: string | undefined;
  readonly host: string;
  /** Browsers send cookies by themselves, so a change authenticated by a cookie must name its origin. */
  readonly isByCookie: boolean;
}

/** Refuses a change that a foreign page requested. */
export function originRefusal({ origin, host, isByCookie }: Origins): Problem | null {
  if (origin === undefined)
    return isByCookie
      ? { ...FOREIGN, detail: 'A change by cookie needs the Origin header.', hint: 'Use the bearer token.' }
      : null;
  return isOwn(origin, host) ? null : FOREIGN;
}
