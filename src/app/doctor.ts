import { LISTED_KINDS } from '../catalog/catalog.ts';
import type { AuthHeader, ListedKind } from '../catalog/kind.ts';
import { configuredKinds } from '../config/configured-kinds.ts';
import type { Config } from '../config/settings.ts';
import { checkRedis } from '../jobs/redis-check.ts';
import { systemClock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { SyncError } from '../lib/sync-error.ts';
import { boundSystem, boundUrl } from '../mirror/source-binding.ts';
import type { Source } from '../source/source.ts';
import { openMirror } from './open-mirror.ts';
import { openConfiguredSource } from './open-source.ts';

/** One thing that was looked at. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** The stable name of what is wrong; null where nothing is. */
  readonly code: string | null;
  /** What was found. */
  readonly detail: string;
  /** What to do where it is not well. */
  readonly hint: string | null;
}

const SPELLINGS: readonly AuthHeader[] = ['Authorization', 'Authentication', 'Authentification'];

/** Looks at everything that is needed: the settings, the database, the queue, the service and the token. Changes no data. */
export async function examine(config: Config, logger: Logger): Promise<readonly Check[]> {
  const settings = { name: 'settings', ok: true, code: null, detail: 'valid', hint: null }; // They were read before this point, or refused.
  return [
    settings,
    await checkDatabase(config),
    ...(await checkQueue(config)),
    ...(await checkSource(config, logger)),
  ];
}

/** A queue in PostgreSQL has no settings that could lose work. */
async function checkQueue({ queue }: Config): Promise<readonly Check[]> {
  return queue.url !== null && /^rediss?:/.test(queue.url) ? await checkRedis(queue.url) : [];
}

async function checkDatabase(config: Config): Promise<Check> {
  return check('database', async () => {
    await using session = await openMirror(config);
    const [url, system] = [await boundUrl(session), await boundSystem(session)];
    const path = session.location;
    if (url === null) return `${path} can be written; it holds no data yet`;
    return `${path} can be written; it holds ${url}${system === null ? '' : `, company ${system}`}`;
  });
}

async function checkSource(config: Config, logger: Logger): Promise<readonly Check[]> {
  const [kind] = LISTED_KINDS.filter(({ name }) => name === 'departments'); // The shortest list.
  if (kind === undefined) return [];
  const reached = await check('service', async () => {
    await using source = openConfiguredSource(config, { clock: systemClock, logger });
    await source.probe(kind);
    return `${String(config.source.baseUrl)} answers and accepts the token`;
  });
  if (config.source.baseUrl === null || config.source.token === null) return [reached];
  await using source = openConfiguredSource(config, { clock: systemClock, logger });
  // Where nobody answers, no spelling can be told right or wrong.
  if (!reached.ok && reached.code !== 'source.unauthorized') return [reached];
  return [reached, await checkHeaders(source, kind), ...(reached.ok ? await checkKinds(config, source) : [])];
}

/** Nobody but the operator vouches for a path in the settings, so each is tried. */
async function checkKinds({ kinds }: Config, source: Source): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const kind of configuredKinds(kinds)) {
    const look = async (): Promise<string> => {
      await source.probe(kind);
      return `${kind.list.path} answers with a list`;
    };
    checks.push(await check(`kinds.${kind.name}`, look));
  }
  return checks;
}

/** The documentation spells the header in three ways (§5): which of them does this service read? */
async function checkHeaders(source: Source, kind: ListedKind): Promise<Check> {
  const accepted: AuthHeader[] = [];
  for (const spelling of SPELLINGS) {
    const { ok } = await check(spelling, async () => {
      await source.probe(kind, spelling);
      return 'accepted';
    });
    if (ok) accepted.push(spelling);
  }
  const detail =
    accepted.length > 0
      ? `the token is read under ${accepted.join(', ')}`
      : 'the token is read under none of the three spellings';
  return {
    name: 'header',
    ok: accepted.length > 0,
    code: accepted.length > 0 ? null : 'source.unauthorized',
    detail,
    hint: null,
  };
}

async function check(name: string, look: () => Promise<string>): Promise<Check> {
  try {
    return { name, ok: true, code: null, detail: await look(), hint: null };
  } catch (error) {
    if (error instanceof SyncError)
      return { name, ok: false, code: error.code, detail: error.message, hint: error.hint ?? null };
    throw error;
  }
}
