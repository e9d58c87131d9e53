import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync } from 'node:fs';
import type { ChangeRow, Dump, KindDump, MirrorRow } from '../simulation/dump.ts';
import type { RecordedPull } from '../simulation/recording.ts';
import type { Soak } from './stage.ts';

/** Tombstones by kind and id, each as a digest of its row. */
export type Graves = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** What is carried from one day to the next of all that was ever true. */
export interface Books {
  /** The mirror at the end of the day before. */
  readonly opening: RecordedPull;
  /** Rows that were tombstones by then: they must stay as they are. */
  readonly graves: Graves;
}

/** The books as they stand after a dump of the whole mirror. */
export function openBooks(pull: RecordedPull): Books {
  const graves = new Map<string, ReadonlyMap<string, string>>();
  for (const [kind, { rows }] of pull.after.kinds) {
    const dead = [...rows.values()].filter(({ deletedAt }) => deletedAt !== null);
    graves.set(kind, new Map(dead.map((row) => [row.id, digestOf(row)])));
  }
  return { opening: { ...pull, after: aboveGround(pull.after, graves) }, graves };
}

const digestOf = ({ raw, deletedAt }: MirrorRow): string =>
  createHash('sha1')
    .update(`${deletedAt ?? ''}\n${raw}`)
    .digest('base64');

/** A dump without the rows that were tombstones when the day began. */
export function aboveGround({ kinds, lastSeq }: Dump, graves: Graves): Dump {
  const trimmed = [...kinds].map(([kind, dump]): [string, KindDump] => {
    const rows = [...dump.rows].filter(([id]) => graves.get(kind)?.has(id) !== true);
    return [kind, { ...dump, rows: new Map(rows) }];
  });
  return { kinds: new Map(trimmed), lastSeq };
}

/** Tombstones of earlier days that are gone or have changed. */
export function disturbedGraves({ kinds }: Dump, graves: Graves): string[] {
  return [...graves].flatMap(([kind, dead]) =>
    [...dead].flatMap(([id, digest]) => {
      const row = kinds.get(kind)?.rows.get(id);
      return row !== undefined && digestOf(row) === digest
        ? []
        : [`${kind} ${id} is not the tombstone it was`];
    }),
  );
}

/**
 * Lets each recorded pull of the day share the rows that are as they were in the pull before: hundreds of dumps of the whole
 * mirror would be the largest thing in memory.
 */
export function thinPulls({ stage: { pulls } }: Soak, { opening, graves }: Books, from: number): void {
  for (let at = from; at < pulls.length; at++) {
    const [pull, previous] = [pulls[at], pulls[at - 1] ?? opening];
    if (pull === undefined) continue;
    const after = aboveGround(pull.after, graves);
    const kinds = [...after.kinds].map(([kind, dump]): [string, KindDump] => {
      const known = previous.after.kinds.get(kind)?.rows;
      return [
        kind,
        { ...dump, rows: new Map([...dump.rows].map(([id, row]) => [id, same(row, known?.get(id))])) },
      ];
    });
    pulls[at] = { ...pull, after: { ...after, kinds: new Map(kinds) } };
  }
}

const same = (row: MirrorRow, known: MirrorRow | undefined): MirrorRow =>
  known?.raw === row.raw && known.deletedAt === row.deletedAt ? known : row;

/** The events of a day go to a file: the mirror forgets old ones, and memory is what is measured. */
export function archive(file: string, changes: readonly ChangeRow[]): void {
  appendFileSync(file, changes.map((event) => `${JSON.stringify(event)}\n`).join(''));
}

export function readArchive(file: string): readonly ChangeRow[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as ChangeRow);
}
