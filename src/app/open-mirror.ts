import { isDeepStrictEqual } from 'node:util';
import {
  allKinds,
  differingExclusions,
  exclusionsDiffer,
  refuseUnknownFields,
} from '../config/known-kinds.ts';
import type { Config } from '../config/settings.ts';
import { OPENINGS, TABLE_OWNERS } from '../feature-hooks.ts';
import { describeOwner } from '../lib/owner.ts';
import { SyncError } from '../lib/sync-error.ts';
import { LANGUAGES } from '../lib/text/translator.ts';
import { ownersHolding } from '../store/runs/worker-store.ts';
import { systemClock } from '../lib/time/clock.ts';
import { readMirroredKind, readNamesSoFar } from '../store/kinds/field-store.ts';
import { hasBaseline } from '../store/kinds/kind-lease.ts';
import { absentFile, openSession } from '../db/open-session.ts';
import type { Session, Transaction } from '../db/session/session.ts';
import type { MirrorUse } from '../store/kinds/target-mark.ts';
import { proveWrites } from '../store/schema/guard-tables.ts';
import { migrate, type SchemaState } from '../views/migrate.ts';
import { fillColumn, hasUnfilled } from '../store/schema/fill-columns.ts';
import { KEY_COLUMN } from '../store/tables/key-column.ts';
import { redecode, type RefillOptions } from '../store/schema/redecode.ts';
import { readCountedStatuses } from '../views/counted-statuses.ts';
import { grantedRole } from '../views/reader-role.ts';
import { isMirrorPresent, readMeta } from '../store/kinds/meta.ts';
import { readExclusions } from '../store/kinds/exclusions.ts';
import { removeExcluded } from '../store/schema/remove-excluded.ts';

/** Opens the mirror, creating it if there is none, and brings it to the shape of this release. */
export const openMirror = (
  config: Config,
  { beforeWriting, readsInThread, ...upgrade }: WritingOptions = {},
) =>
  openChecked(
    config,
    'write',
    async (session) => {
      await beforeWriting?.(session);
      const mayMigrate = refuseBesideOlder(session.location);
      await upgradeMirror(session, config, { mayMigrate, ...upgrade });
      await proveWrites(session, allKinds(config));
    },
    readsInThread,
  );

interface WritingOptions {
  readonly beforeWriting?: (session: Session) => Promise<void>;
  /** For a service, whose other work a long select must not hold up. */
  readonly readsInThread?: boolean;
  /** Whether an existing mirror takes over the settings that answers depend on. */
  readonly keepsSettings?: boolean;
  /** Whether what `privacy.exclude` newly names is removed, as by whoever takes over the settings; else it is refused. */
  readonly removesExcluded?: boolean;
}

/** @param prepare Checks the mirror, and brings it to the shape of this release. @throws What it throws. */
async function openChecked(
  config: Config,
  use: MirrorUse,
  prepare: (session: Session) => Promise<void>,
  readsInThread = false,
): Promise<Session> {
  const opened = await openSession(config.database.url, { readsInThread });
  try {
    const session = await admit(opened, use);
    await prepare(session);
    if (await hasBaseline(session)) await session.makeDurable();
    return session;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Refuses a mirror that must not be opened for this use. @returns The session to work with. */
export async function admit(opened: Session, use: MirrorUse): Promise<Session> {
  let session = opened;
  for (const open of OPENINGS) session = await open(session, use);
  return session;
}

type OnRefilled = NonNullable<RefillOptions['onProgress']>;

/** The document of `migrate --json`. */
export type Migration = Awaited<ReturnType<typeof migrateMirror>>;

/** Brings the mirror to the shape of this release; creates it if there is none. */
export async function migrateMirror(config: Config, onProgress?: OnRefilled) {
  await using session = await openSession(config.database.url);
  await admit(session, 'write');
  const mayMigrate = refuseBesideOlder(session.location);
  const upgrade = { mayMigrate, keepsSettings: true, onProgress };
  return { database: session.location, ...(await upgradeMirror(session, config, upgrade)) };
}

interface Upgrade extends Pick<WritingOptions, 'keepsSettings' | 'removesExcluded'> {
  readonly mayMigrate: MayMigrate;
  readonly onProgress?: OnRefilled | undefined;
}

type MayMigrate = (tx: Transaction, found: SchemaState) => Promise<void> | void;

/**
 * Brings a mirror to the shape that this release and the settings need: tables, views and the content of the columns.
 * @returns `migrated`: false if the mirror already had the shape. `excluded`: present if fields that `privacy.exclude` names were
 * removed now, or a busy file was tried again: whether the free space and the log of a SQLite file are free of them too; null in
 * PostgreSQL.
 */
async function upgradeMirror(
  session: Session,
  config: Config,
  { mayMigrate, keepsSettings = false, removesExcluded = keepsSettings, onProgress }: Upgrade,
) {
  const kinds = allKinds(config);
  await refuseUnknownFields(config, (names) => readNamesSoFar(session, names));
  const keptOut = await readExclusions(session);
  const isKept = keepsSettings || keptOut === null;
  await refuseOtherExclusions(session, differingExclusions(config, keptOut), removesExcluded);
  const { reports, calendar } = config;
  const facts = {
    'settings.kinds': declaredText(config),
    'calendar.yearBegins': String(calendar.yearBegins),
  };
  const stored = isKept ? null : await readMeta(session, 'language');
  const language = LANGUAGES.find((one) => one === stored) ?? config.language;
  const kept = { language, ...(isKept && { reports, kept: facts }) };
  const migrated = await migrate(session, kinds, { ...schemaOptions(config), ...kept, mayMigrate });
  const { hasRemoved, isScrubbed: scrubbed } = await removeExcluded(session, kinds, TABLE_OWNERS, {
    onProgress,
  });
  if (migrated || (await hasUnfilled(session, KEY_COLUMN)))
    for (const kind of kinds) {
      const mirrored = await readMirroredKind(session, kind);
      await redecode(session, mirrored, { now: systemClock.now(), onProgress });
      await fillColumn(session, mirrored, KEY_COLUMN);
    }
  return hasRemoved || scrubbed !== null ? { migrated, excluded: { scrubbed } } : { migrated };
}

/** Refuses settings that exclude others, unless they are taken over and nobody works by those of the mirror. */
async function refuseOtherExclusions(session: Session, differing: readonly string[], areTakenOver: boolean) {
  if (differing.length === 0) return;
  const [owner] = areTakenOver ? await session.atomically(ownersHolding) : [];
  if (owner !== undefined || !areTakenOver) throw exclusionsDiffer(differing, owner && describeOwner(owner));
}

const declaredText = ({ kinds, includeKinds }: Config): string => JSON.stringify({ kinds, includeKinds });

/**
 * Returns the settings of a command, with those of the mirror where answers depend on them: only `serve` and `migrate` change these.
 * @param warn Gets a line that names the ones that differ.
 */
export async function withKeptSettings(config: Config, warn: (text: string) => void): Promise<Config> {
  const { url } = config.database;
  const kept = absentFile(url) === null ? await readKeptSettings(url) : null;
  if (kept === null) return config;
  const { kinds, includeKinds, reports, timezone } = kept;
  const bi = { readerRole: config.bi.readerRole ?? kept.readerRole }; // Who names no role takes none its right.
  const hasOwnKinds = config.includeKinds.length > 0 || Object.keys(config.kinds).length > 0;
  const differing = [
    ...(hasOwnKinds && declaredText(config) !== declaredText({ ...config, ...kept })
      ? ['includeKinds or kinds']
      : []),
    ...(['sold', 'owed', 'bought'] as const)
      .filter(
        (name) => config.reports[name] !== null && !isDeepStrictEqual(config.reports[name], reports[name]),
      )
      .map((name) => `reports.${name}`),
    ...([undefined, timezone].includes(config.calendarZone) ? [] : ['schedules.timezone']),
  ];
  if (differing.length > 0)
    warn(
      `The mirror keeps other values of ${differing.join(', ')}, which count: bms-sync migrate takes over these.`,
    );
  const schedules = { ...config.schedules, timezone } as Config['schedules'];
  return { ...config, kinds, includeKinds, reports, bi, schedules, calendarZone: timezone };
}

/** Reads the settings that a mirror keeps; null where there are none. What prevents it, the command finds by itself. */
async function readKeptSettings(url: string) {
  try {
    await using session = await openSession(url);
    const declared = (await isMirrorPresent(session)) ? await readMeta(session, 'settings.kinds') : null;
    if (declared === null) return null;
    const timezone = (await readMeta(session, 'calendar')) ?? 'UTC';
    const kinds = JSON.parse(declared) as Pick<Config, 'kinds' | 'includeKinds'>;
    const readerRole = await grantedRole(session);
    return { ...kinds, reports: await readCountedStatuses(session), timezone, readerRole };
  } catch (error) {
    if (error instanceof SyncError) return null;
    throw error;
  }
}

/**
 * An older release at work would fail to store the answers of its own requests: the tables refuse its writes from now on.
 * The owners of an older mirror have noted no release; each living one counts as another release.
 */
function refuseBesideOlder(location: string): MayMigrate {
  return async (tx, found) => {
    if (found !== 'of an older release') return;
    const [owner] = await ownersHolding(tx);
    if (owner === undefined) return;
    throw new SyncError(`On ${location}, ${describeOwner(owner)} is running an older release.`, {
      code: 'mirror.older_at_work',
      hint: 'Stop it, back up the mirror, then run this again.',
    });
  };
}

export const schemaOptions = ({ bi: { readerRole }, language, calendarZone }: Config) => ({
  readerRole,
  language,
  ...(calendarZone !== undefined && { timezone: calendarZone }),
});

/**
 * Opens an existing mirror for a report or a decision.
 * @throws {SyncError} `mirror.absent` if there is none: reports never create a mirror; `mirror.older` if an older
 * release has made it, which may still be at work on it.
 */
export async function openExistingMirror(config: Config, use: MirrorUse = 'read'): Promise<Session> {
  const { url } = config.database;
  const absent = absentFile(url);
  if (absent !== null) throw mirrorAbsent(absent);
  return openChecked(config, use, async (session) => {
    await upgradeMirror(session, config, { mayMigrate: refuseOlder(session.location) });
  });
}

function refuseOlder(location: string): MayMigrate {
  return (_tx, found) => {
    if (found === 'none') throw mirrorAbsent(location);
    if (found !== 'of an older release') return;
    throw new SyncError(`The mirror ${location} is of an older release.`, {
      code: 'mirror.older',
      hint: 'Stop the older release, back up the mirror, then run: bms-sync migrate',
    });
  };
}

const mirrorAbsent = (location: string): SyncError =>
  new SyncError(`There is no mirror at ${location}.`, {
    code: 'mirror.absent',
    hint: 'Set DATABASE_URL to the mirror, or create it: bms-sync pull, or bms-sync migrate.',
  });
