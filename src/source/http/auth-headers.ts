import type { AuthHeader } from '../../catalog/kind.ts';

/** The spellings of §5: the documentation uses all three and does not say which one counts. */
const SPELLINGS: readonly AuthHeader[] = ['Authentication', 'Authorization', 'Authentification'];

/** Names of the headers that carry the token, for one request. */
export function authHeaderNames(
  setting: 'all' | 'documented' | readonly string[],
  documented: AuthHeader,
): readonly string[] {
  if (setting === 'all') return SPELLINGS;
  return setting === 'documented' ? [documented] : setting;
}
