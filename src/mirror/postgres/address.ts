import { MirrorError } from '../session/errors.ts';

/**
 * Where a PostgreSQL address leads, without its user and password: `postgres://host:5432/db`.
 *
 * @throws {MirrorError} `mirror.bad_address` where it is none, or where a part of the password would be taken for another part.
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

/** Says what is wrong without a word of the address: any of it may be the password. */
export function badAddress(): MirrorError {
  return new MirrorError('DATABASE_URL is not an address that PostgreSQL can be reached by.', {
    code: 'mirror.bad_address',
    hint: 'Write postgres://USER:PASSWORD@HOST:5432/DATABASE; in the password % is %25, @ is %40, / is %2F, # is %23, ? is %3F.',
  });
}
