import type { HttpClient } from '../../src/source/http/http.ts';

/** What a simulated network that is only read does with a write. */
export const noWrites: HttpClient['send'] = ({ where }) =>
  Promise.reject(new Error(`${where}: this network is only read`));
