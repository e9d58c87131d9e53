import { kindNamed } from '../../config/known-kinds.ts';
import type { Config } from '../../config/settings.ts';
import { replayEvents, testEndpoint } from '../../feed/webhooks/endpoint-activity.ts';
import type { AskedReplay, EndpointTest } from '../../feed/webhooks/endpoint-activity.ts';
import { addEndpoint, dropEndpoint, rotateSecret, endpointDocuments } from '../../feed/webhooks/endpoints.ts';
import type { AddedEndpoint, RevealedSecret, EndpointDocument } from '../../feed/webhooks/endpoints.ts';
import { putEndpoints } from '../../feed/webhooks/sync-endpoints.ts';
import { systemClock } from '../../lib/time/clock.ts';
import type { Session } from '../../mirror/session/session.ts';
import { openExistingMirror, openMirror } from '../open-mirror.ts';
import { endpointsOf, settingsSecrets } from '../webhooks.ts';

export type { AddedEndpoint, RevealedSecret } from '../../feed/webhooks/endpoints.ts';
export type { EndpointDocument } from '../../feed/webhooks/endpoints.ts';
export type { EndpointTest } from '../../feed/webhooks/endpoint-activity.ts';

/** All endpoints, those of the settings included. */
export async function listWebhooks(config: Config): Promise<readonly EndpointDocument[]> {
  await using session = await openWithSettings(config);
  return await endpointDocuments(session);
}

/**
 * Adds an endpoint; creates the mirror if there is none.
 *
 * @throws {UsageError} `usage.kind`, `webhooks.refused`. @throws {SyncError} `webhooks.name_taken`.
 */
export async function addWebhook(config: Config, wish: AddedEndpoint): Promise<RevealedSecret> {
  for (const kind of wish.kinds ?? []) kindNamed(config, kind);
  await using session = await openMirror(config);
  const { allowHosts } = config.webhooks;
  return await addEndpoint(session, wish, { allowHosts, now: systemClock.now() });
}

/** @throws {SyncError} `webhooks.absent`, `webhooks.of_settings`. */
export async function removeWebhook(config: Config, name: string): Promise<void> {
  await using session = await openWithSettings(config);
  await dropEndpoint(session, name);
}

/** @throws {SyncError} `webhooks.absent`, `webhooks.of_settings`. */
export async function rotateWebhook(config: Config, name: string): Promise<RevealedSecret> {
  await using session = await openWithSettings(config);
  return await rotateSecret(session, { name, secretsOf: settingsSecrets(config), now: systemClock.now() });
}

/** @throws {SyncError} `webhooks.absent`. */
export async function replayWebhook(config: Config, asked: AskedReplay): Promise<AskedReplay> {
  await using session = await openWithSettings(config);
  return await replayEvents(session, { ...asked, now: systemClock.now() });
}

/**
 * Sends an endpoint one test event from this process.
 *
 * @throws {SyncError} `webhooks.absent`.
 */
export async function testWebhook(config: Config, name: string, signal: AbortSignal): Promise<EndpointTest> {
  await using session = await openWithSettings(config);
  const { allowHosts } = config.webhooks;
  const parts = { session, clock: systemClock, allowHosts, secretsOf: settingsSecrets(config), signal };
  return await testEndpoint(parts, name);
}

/** Opens the mirror, with the endpoints of the settings in it, whether `serve` has run or not. */
async function openWithSettings(config: Config): Promise<Session> {
  const session = await openExistingMirror(config);
  try {
    const wanted = endpointsOf(config);
    if (wanted.length > 0) await session.atomically((tx) => putEndpoints(tx, wanted, systemClock.now()));
    return session;
  } catch (error) {
    await session.close();
    throw error;
  }
}
