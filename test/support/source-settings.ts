import type { SourceSettings } from '../../src/source/http/http.ts';

/** A client that is patient, and in no hurry; without address and token. */
export const SOURCE_SETTINGS: Omit<SourceSettings, 'baseUrl' | 'token'> = {
  concurrency: 4,
  requestsPerSecond: null,
  timeoutSeconds: 30,
  maxAttempts: 5,
  maxBodyBytes: 1e8,
  authHeaders: 'all',
  proxyUrl: null,
  pageSize: 100,
};
