import { createHash } from 'node:crypto';
import { SIGN_IN_STYLE } from '../pages/parts/sign-in-style.ts';

const STYLE_HASH = `'sha256-${createHash('sha256').update(SIGN_IN_STYLE).digest('base64')}'`;

/**
 * Headers of every answer. `same-origin` instead of `no-referrer`: with the latter, browsers send forms with `Origin: null`.
 * Nothing that is written into a page applies, but the style of the sign-in form; all else is a file of ours.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy':
    `default-src 'none'; style-src ${STYLE_HASH}; style-src-elem 'self' ${STYLE_HASH}; script-src 'self'; ` +
    `connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
