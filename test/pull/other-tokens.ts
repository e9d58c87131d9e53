import { createHttpClient } from '../../src/source/http/http-client.ts';
import type { HttpClient } from '../../src/source/http/http.ts';
import { openSource, type Source } from '../../src/source/source.ts';
import { SOURCE_SETTINGS } from '../support/source-settings.ts';
import { clockAt } from './steps.ts';
import { logger, type Address } from './support.ts';

/** The client of a service that takes each of these tokens: the present one is asked for with every request. */
export function sourceWithTokens({ url, token }: Address, minute: number, present: () => string): Source {
  const settings = {
    ...SOURCE_SETTINGS,
    baseUrl: url,
    get token() {
      return present();
    },
  };
  const openHttp = (): HttpClient => {
    const client = createHttpClient(settings);
    const get: HttpClient['get'] = (request, signal) => {
      const known = Object.entries(request.headers).map(([name, value]) => [
        name,
        value.startsWith('Bearer ') ? `Bearer ${token}` : value,
      ]);
      return client.get({ ...request, headers: Object.fromEntries(known) as typeof request.headers }, signal);
    };
    return { ...client, get };
  };
  return openSource(settings, { clock: clockAt(minute), logger, openHttp });
}
