import { MirrorError } from '../session/errors.ts';

/**
 * The host, port and database of a PostgreSQL address, without user and password: `postgres://host:5432/db`.
 *
 * @throws {MirrorError} `mirror.bad_address` if it is not an address, or if a part of the password would be read as another
 * part.
 */
export function locationOf(url: string): string {
  const { host, hostname, port, pathname, search, hash, searchParams } = parse(url);
  const rest = `${pathname}${search}${hash}`;
  if (rest.includes('@') || hash !== '' || /^\/.*\//.test(pathname)) throw badAddress();
  const socket = searchParams.get('host');
  const place = socket ?? (host === '' ? 'localhost' : hostname);
  return `postgres://${place}:${searchParams.get('port') ?? (port === '' ? '5432' : port)}${pathname}`;
}

function parse(url: string): URL {
  try {
    return new URL(url);
  } catch {
    throw badAddress(); // Without its cause, which holds the address with the password.
  }
}

/** The message quotes no part of the address: any part may be the password. */
export function badAddress(): MirrorError {
  return new MirrorError('DATABASE_URL is not an address that PostgreSQL can be reached by.', {
    code: 'mirror.bad_address',
    hint: 'Write postgres://USER:PASSWORD@HOST:5432/DATABASE; in the password % is %25, @ is %40, / is %2F, # is %23, ? is %3F.',
  });
}
