import { sql } from 'drizzle-orm';
import type { certify, Certification, Sighting } from '../../src/diff/certify.ts';
import type { createRecordDecoder } from '../../src/diff/decode-record.ts';
import type { decideDeletions } from '../../src/diff/decide-deletions.ts';
import type { normalizeKey } from '../../src/diff/normalize-spelling.ts';
import type { withBlanks } from '../../src/diff/shown-value.ts';
import { formatInstant } from '../../src/lib/time/clock.ts';
import type { locateReader } from '../../src/events/follow-changes.ts';
import { readRows } from '../../src/db/rows/rows.ts';
import type { hasFailed } from '../../src/outbound/send/grade.ts';
import type { uncertifiedMs } from '../../src/outbound/send/decide-settlement.ts';
import type { answeredCreates } from '../../src/store/outbox/attempts-and-links.ts';
import type { claimKind } from '../../src/store/kinds/kind-lease.ts';
import type { appendChanges } from '../../src/store/records/change-store.ts';
import type { possibleMatchesSince } from '../../src/store/records/record-store.ts';
import type { findLastBreak } from '../../src/outbound/last-break.ts';
import type { landOwnWrite } from '../../src/outbound/send/land-own-write.ts';
import type { hasOtherWrites } from '../../src/pull/reading.ts';
import type { saveNextPageSize } from '../../src/pull/sweep/page-size.ts';

/** Functions of the code under test in whose place a test can put a double, made of the real one. */
interface Plantable {
  appendChanges: typeof appendChanges;
  certify: typeof certify;
  claimKind: typeof claimKind;
  hasOtherWrites: typeof hasOtherWrites;
  landOwnWrite: typeof landOwnWrite;
  possibleMatchesSince: typeof possibleMatchesSince;
  decideDeletions: typeof decideDeletions;
  createRecordDecoder: typeof createRecordDecoder;
  withBlanks: typeof withBlanks;
  normalizeKey: typeof normalizeKey;
  saveNextPageSize: typeof saveNextPageSize;
  findLastBreak: typeof findLastBreak;
  locateReader: typeof locateReader;
  hasFailed: typeof hasFailed;
  answeredCreates: typeof answeredCreates;
  uncertifiedMs: typeof uncertifiedMs;
}

type Planted = { readonly [Name in keyof Plantable]?: (real: Plantable[Name]) => Plantable[Name] };

/** The second look is there for services that lie: without it, what a false certificate says is done at once. */
const HASTY: Planted = {
  decideDeletions: (real) => (facts, rules) =>
    facts.isCertified
      ? { ...real(facts, rules), toRetrieve: [], tombstones: facts.absent.map(({ id }) => id) }
      : real(facts, rules),
};

/** Bugs of sweeps and of sends that lie deeper: what is counted as new, as seen, as over. */
export const MORE_PLANTED_BUGS: readonly {
  readonly name: string;
  readonly trait?: string;
  readonly parts: Planted;
}[] = [
  {
    name: 'every record of the mirror counts as new',
    parts: {
      possibleMatchesSince: (real) => (db, kind) =>
        real(db, kind, { tick: -1, at: '', seq: null, holder: null }),
    },
  },
  {
    name: 'our own write has the origin of the service',
    parts: {
      landOwnWrite: (real) => (tx, parts, reading) => real(tx, parts, { ...reading, origin: 'service' }),
    },
  },
  {
    name: 'a row absent from one sweep is deleted',
    parts: { ...HASTY, certify: () => (responses) => presenceIn(responses, lastSweepOf(responses)) },
  },
  {
    name: 'sightings of several sweeps count as one whole sweep',
    parts: {
      ...HASTY,
      certify: (real) => (responses, known) => {
        const end = responses.findLast(({ endRows }) => endRows !== null);
        const recent = responses.filter(({ sweep }) => sweep === lastSweepOf(responses));
        return end && new Set(recent.flatMap(idsOf)).size === end.endRows
          ? presenceIn(responses, end.sweep)
          : real(responses, known);
      },
    },
  },
  {
    name: 'the total alone says how many rows there are',
    parts: {
      ...HASTY,
      certify: (real) => (responses, known) =>
        real(
          responses.map((one) => ({ ...one, endRows: one.total })),
          known,
        ),
    },
  },
  {
    name: 'a page goes unparsed although its rows were written since',
    parts: {
      hasOtherWrites:
        (real) =>
        (ids, page, { state, sending }) =>
          real(ids, page, { state: { ...state, dirty: new Map() }, ...(sending && { sending }) }),
    },
  },
  {
    name: 'the first reading of a list is news',
    parts: {
      claimKind:
        (real) =>
        async (...claim) => {
          const lease = await real(...claim);
          return { ...lease, baselineAt: lease.baselineAt ?? '2026-01-01 00:00:00.000' };
        },
    },
  },
  {
    name: 'decimals pass through a float',
    parts: {
      createRecordDecoder: (real) => (kind) => {
        const decode = real(kind);
        return (record) => {
          const { values, misfits } = decode(record);
          const rounded = values.map((value, at) =>
            kind.fields[at]?.type === 'decimal' && value !== null ? String(Number(value)) : value,
          );
          return { values: rounded, misfits };
        };
      },
    },
  },
  {
    name: 'a field that is left out is unknown, not blank',
    trait: 'blanks: left out',
    parts: { withBlanks: () => (_kind, record) => record },
  },
  {
    name: 'natural keys are compared as they are written',
    trait: 'keys: in two spellings',
    parts: { normalizeKey: () => (text) => text },
  },
  {
    name: 'a list is read in pages of one size for ever',
    trait: 'ties: another order for each page',
    parts: { saveNextPageSize: () => () => Promise.resolve() },
  },
  {
    name: 'what a mirror knew before it went back lets a create out',
    trait: 'goesBack: with the count of our sends',
    parts: {
      findLastBreak:
        (real) =>
        async (...args) => ({ ...(await real(...args)), firstRun: 0, lastEntry: 0 }),
    },
  },
  {
    name: 'a reader of events is served on after a restore',
    trait: 'goesBack: under living processes',
    parts: {
      locateReader:
        (real) =>
        async (...args) => ({ ...(await real(...args)), isLost: false }),
    },
  },
  {
    name: 'a lost create waits no longer than one whose failure the service itself answered',
    trait: 'late: lost sends',
    parts: { hasFailed: (real) => (answer) => answer.is !== 'answered' || real(answer) },
  },
  {
    name: 'lost creates that were found teach how soon lists show what is created',
    trait: 'late: failures where no create is answered',
    parts: {
      answeredCreates: () => (db, kind, from, to) =>
        readRows(
          db,
          { recordId: String, linkedAt: String },
          sql`select record_id, linked_at from links
              where kind = ${kind} and linked_at >= ${from} and linked_at < ${to}`,
        ),
    },
  },
  {
    name: 'the short wait goes on while no list can be read',
    trait: 'late: failures until an outage ends',
    parts: { uncertifiedMs: () => () => 0 },
  },
  {
    name: 'events carry the time of a clock that was set back',
    parts: {
      appendChanges: (real) => async (tx, changes) => {
        const [row] = await tx.query(sql`select max(seq) as seq from changes`);
        await real(tx, changes);
        await tx.query(sql`
          update changes set observed_at = ${formatInstant(changes.now)} where seq > ${Number(row?.['seq'] ?? 0)}`);
      },
    },
  },
];

const idsOf = ({ ids }: Sighting): string[] => (ids === '[]' ? [] : ids.slice(1, -1).split(','));

function lastSweepOf(responses: readonly Sighting[]): number | null {
  const sweeps = responses.flatMap(({ sweep }) => (sweep === null ? [] : sweep));
  return sweeps.length === 0 ? null : Math.max(...sweeps);
}

/** Takes what one sweep showed for all there is. */
function presenceIn(responses: readonly Sighting[], sweep: number | null): Certification {
  const shown = new Set(responses.filter((one) => one.sweep === sweep).flatMap(idsOf));
  const point = responses.at(-1);
  if (point === undefined) return { certified: false, reason: 'no_end', detail: 'nothing was read' };
  return {
    certified: true,
    point,
    size: shown.size,
    isInList: (id) => shown.has(id),
    wasShownSince: (id) => shown.has(id),
    lastShown: (id) => responses.findLast((one) => idsOf(one).includes(id))?.sent ?? null,
  };
}
