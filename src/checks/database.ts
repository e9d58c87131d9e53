import { allKinds, differingExclusions, exclusionsDiffer } from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { runCheck, failedCheck, passedCheck, type CheckResult } from '../lib/check-result.ts';
import { boundUrl, boundCompanies } from '../pull/source-binding.ts';
import { readPause } from '../outbound/freeze.ts';
import { createCounterReader } from '../outbound/send-counter.ts';
import { RESUME, pauseText } from '../store/outbox/freeze-store.ts';
import { readBlocks } from '../store/outbox/outbox-queue.ts';
import { databaseVersion, canCreateSchema, hasFsync } from '../db/session/database-info.ts';
import { MirrorError } from '../db/session/errors.ts';
import type { Session } from '../db/session/session.ts';
import { checkSchema } from '../views/migrate.ts';
import { readExclusions } from '../store/kinds/exclusions.ts';
import { absentFile } from '../db/open-session.ts';
import { checkAbsentFile, checkFile } from './database-file.ts';
import { checkReaderRole } from './reader-role.ts';

export interface MirrorOpeners {
  /** Opens the database as it is: nothing is migrated. */
  readonly mirror: () => Promise<Session>;
  /** Refuses a mirror that must not be opened. */
  readonly admit: (session: Session, use: 'write') => Promise<Session>;
}

/**
 * Checks the database, its free space, and whether something keeps the outbox from being sent; creates nothing. `isMirror` is
 * true if a pull would find a mirror of this release, null if the database could not be read.
 */
export async function checkDatabase(config: Config, open: MirrorOpeners, areNamesKnown = true) {
  const absent = absentFile(config.database.url);
  if (absent !== null) return { checks: checkAbsentFile(absent), isMirror: false };
  const more: CheckResult[] = [];
  const found = { isMirror: false };
  const opened = await runCheck('database', async () => {
    await using session = await open.mirror();
    await open.admit(session, 'write');
    const differing = areNamesKnown ? differingExclusions(config, await readExclusions(session)) : [];
    if (differing.length > 0) throw exclusionsDiffer(differing);
    const { language, bi } = config;
    const { readerRole } = bi;
    const schemaState = await checkSchema(session, allKinds(config), { readerRole, language });
    if (session.dialect === 'sqlite') more.push(...(await checkFile(session)));
    else if (!(await hasFsync(session))) more.push(NOT_DURABLE);
    const place = `${session.location} can be written (${await databaseVersion(session)})`;
    if (schemaState !== 'current') more.push(...(await checkReaderRole(session, readerRole, false)));
    if (schemaState === 'none') await refuseWithoutRight(session);
    if (schemaState === 'none') return `${place}; it holds no mirror yet, the first pull creates it`;
    if (schemaState === 'of an older release')
      return `${place}; its mirror is of an older release: back it up, then run bms-sync migrate or serve`;
    found.isMirror = true;
    if (schemaState === 'current') more.push(...(await checkReaderRole(session, readerRole, true)));
    more.push(...(await findSendStops(session, config.queue.url)));
    const url = await boundUrl(session);
    if (url === null) return `${place}; it holds no data yet`;
    return `${place}; it holds ${url}${companiesText(await boundCompanies(session))}`;
  });
  return { checks: [opened, ...more], isMirror: opened.ok === true ? found.isMirror : null };
}

/** Passes: nothing is wrong as long as the machine runs. */
const NOT_DURABLE: CheckResult = {
  ...passedCheck(
    'database.fsync',
    'fsync is off: a crash of the machine can damage the database, or make it forget what was sent',
  ),
  hint: 'Set fsync = on in postgresql.conf, then run: select pg_reload_conf()',
};

/** @throws {MirrorError} If this user of PostgreSQL may not create the schema of the tables. */
async function refuseWithoutRight(session: Session): Promise<void> {
  if (session.dialect !== 'postgres' || (await canCreateSchema(session))) return;
  throw new MirrorError(`${session.location} lets this user create no schema.`, {
    code: 'mirror.not_writable',
    hint: 'GRANT CREATE ON DATABASE … TO the user in DATABASE_URL: the first pull creates the schema of the tables.',
  });
}

/** The companies in the mirror; with their kinds, if there are several. */
function companiesText(companies: ReadonlyMap<string, readonly string[]>): string {
  const ids = [...new Set([...companies.values()].flat())];
  if (ids.length < 2) return ids.map((id) => `, company ${id}`).join('');
  const kindsOf = (id: string): string =>
    [...companies].flatMap(([kind, named]) => (named.includes(id) ? [kind] : [])).join(', ');
  return `, companies ${ids.map((id) => `${id} (${kindsOf(id)})`).join(', ')}`;
}

/** Finds the reasons why entries of the outbox are not sent. */
async function findSendStops(session: Session, queueUrl: string | null): Promise<readonly CheckResult[]> {
  const stops: CheckResult[] = [];
  const sendCounter = createCounterReader(session, queueUrl);
  const frozen = await readPause({ session, sendCounter });
  if (frozen !== null) stops.push(failedCheck('writes.frozen', 'outbox.frozen', pauseText(frozen), RESUME));
  const hint = 'Grant this right to the user of the token. bms-sync retries every few minutes.';
  for (const { kind, reason, since } of await readBlocks(session)) {
    const detail = `the service has refused writes of ${kind} since ${since} UTC (${reason})`;
    stops.push(failedCheck(`writes.${kind}`, 'outbox.kind_blocked', detail, hint));
  }
  return stops;
}
