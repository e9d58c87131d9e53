import { createHash } from 'node:crypto';
import { STYLE } from '../pages/style.ts';

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/**
 * Headers of every answer. `same-origin` instead of `no-referrer`: with the latter, browsers send forms with `Origin: null`.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy':
    `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; ` +
    `frame-ancestors 'none'`,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};
