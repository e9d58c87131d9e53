import { secretsIn } from '../config/load-config.ts';
import type { Config } from '../config/settings.ts';
import type { SetEndpoint } from '../feed/webhooks/sync-endpoints.ts';
import type { WebhookEndpoint } from '../mirror/webhooks/endpoint-store.ts';

/** The endpoints of the settings. */
export function endpointsOf({ webhooks }: Config): readonly SetEndpoint[] {
  return Object.entries(webhooks.endpoints).map(([name, { secret, ...rest }]) => ({
    ...{ name, ...rest },
    secrets: secretsIn(secret),
  }));
}

/** Finds the secrets that the settings have for an endpoint; null = none. */
export function settingsSecrets(
  config: Config,
): (endpoint: Pick<WebhookEndpoint, 'name' | 'source'>) => readonly string[] | null {
  const secrets = new Map(endpointsOf(config).map((endpoint) => [endpoint.name, endpoint.secrets]));
  return ({ name, source }) => {
    const own = source === 'settings' ? (secrets.get(name) ?? []) : [];
    return own.length === 0 ? null : own;
  };
}
