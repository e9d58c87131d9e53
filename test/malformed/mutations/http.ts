import { gzipSync } from 'node:zlib';
import { bodyBytes, withText, type Draft, type Mutation, type Scene } from '../draft.ts';

const HTML = '<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><form></form></body></html>';

const header =
  (name: string, values: readonly (string | string[])[]): Mutation =>
  (draft, { random }) => ({ ...draft, headers: { ...draft.headers, [name]: random.pick(values) } });

const status =
  (codes: readonly number[]): Mutation =>
  (draft, { random }) => ({ ...draft, status: random.pick(codes) });

function webPage(draft: Draft, code: number): Draft {
  return { ...withText(draft, HTML), status: code, headers: { 'content-type': 'text/html; charset=utf-8' } };
}

/** How a server may repeat the token that it was sent. */
function tokenForms({ token, random }: Scene): string {
  const escaped = token.replaceAll('/', '\\/');
  const inUnicode = Array.from(
    token,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  ).join('');
  return random.pick([token, escaped, encodeURIComponent(token), inUnicode]);
}

/** What goes wrong around a body: status, headers, somebody else's page. */
export const HTTP_MUTATIONS: Readonly<Record<string, Mutation>> = {
  'web page, status 200': (draft) => webPage(draft, 200),
  'web page, other status': (draft, { random }) =>
    webPage(draft, random.pick([201, 401, 403, 404, 410, 500, 502, 503])),
  'web page before JSON': (draft) =>
    withText(
      draft,
      `<br />\n<b>Warning</b>: Undefined index<br />\n${Buffer.from(bodyBytes(draft)).toString()}`,
    ),
  'empty body': (draft) => withText(draft, ''),
  'blank body': (draft, { random }) => withText(draft, random.pick([' ', '\n\n', '\t', '\ufeff'])),
  'status 204': (draft) => ({ ...withText(draft, ''), status: 204 }),
  'status 2xx with JSON': status([201, 202, 203, 206, 207, 226, 299]),
  'status 3xx with JSON': status([300, 304, 305]),
  redirect: (draft, { random, token }) => ({
    ...withText(draft, random.pick(['', HTML])),
    status: random.pick([301, 302, 303, 307, 308]),
    headers: {
      location: random.pick(['/login', '//evil', `https://u:${token}@other/?t=${token}`, 'http://[', '']),
    },
  }),
  'status 4xx with JSON': status([400, 401, 402, 403, 405, 406, 409, 418, 422, 451]),
  'status 404 with JSON': status([404, 410]),
  'status 404 with a list': (draft) => ({ ...withText(draft, '[]'), status: 404 }),
  'status 5xx with JSON': status([500, 501, 502, 503, 504, 507, 599]),
  'odd status': status([0, 99, 100, 600, 999]),
  'asked to wait': (draft, { random }) => ({
    ...draft,
    status: random.pick([429, 503, 408, 425]),
    headers: {
      'retry-after': random.pick([
        '7',
        '0',
        '-1',
        '1e9',
        '99999999999',
        'abc',
        '',
        'Wed, 21 Oct 2015 07:28:00 GMT',
      ]),
    },
  }),
  'wrong content-encoding': header('content-encoding', [
    'gzip',
    'br',
    'deflate',
    'x',
    '',
    ['gzip', 'br'],
    'identity, gzip',
  ]),
  'compressed after all': (draft) => ({
    ...draft,
    bytes: gzipSync(bodyBytes(draft)),
    headers: { ...draft.headers, 'content-encoding': 'gzip' },
  }),
  'compressed and not said': (draft) => ({ ...draft, bytes: gzipSync(bodyBytes(draft)) }),
  'cache headers': (draft, scene) => {
    const [name, value] = scene.random.pick([
      ['age', '12'],
      ['age', '0'],
      ['age', 'abc'],
      ['age', '-1'],
      ['age', '1e3'],
      ['x-cache', 'HIT from proxy'],
      ['x-cache', 'MISS'],
      ['cf-cache-status', 'HIT'],
      ['x-cache-status', 'hit'],
      ['x-proxy-cache', 'STALE'],
    ] as const);
    return header(name, [value])(draft, scene);
  },
  'wrong content-type': header('content-type', [
    'text/html',
    'text/plain',
    '',
    'application/octet-stream',
    'image/png',
  ]),
  'token repeated in a refusal': (draft, scene) => ({
    ...withText(draft, `{"success":false,"message":"bad token ${tokenForms(scene)}"}`),
    status: scene.random.pick([200, 400, 401, 403, 500]),
  }),
  'token repeated in nonsense': (draft, scene) =>
    withText(draft, `${scene.random.pick(['', '<p>', '{"data":'])}${tokenForms(scene)}`),
  'token repeated in a header': (draft, scene) => ({
    ...draft,
    headers: {
      ...draft.headers,
      [scene.random.pick(['x-cache', 'content-encoding', 'x-echo'])]: `HIT ${scene.token}`,
    },
  }),
};
