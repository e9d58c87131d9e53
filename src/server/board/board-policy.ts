/**
 * What the pages of bull-board may load and run: their own files, and nothing else.
 *
 * Their fonts come from Google, so the system's stand in; the style of the loading screen is inline, so it is plain.
 */
export const BOARD_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
