import { MirrorError } from '../session/errors.ts';

/** Something of a user's own that a migration cannot leave as it is. */
export interface Obstacle {
  /** With its schema, quoted where it needs quotes. */
  readonly name: string;
  /** SQL that removes it; null where we know none. */
  readonly drop: string | null;
  /** SQL that makes it again; null where we know none. */
  readonly create: string | null;
}

/**
 * Says which views of a user's own a migration cannot leave as they are, with the SQL to drop them and to make them again.
 *
 * @param obstacles Those that need others before these.
 */
export function obstaclesError(obstacles: readonly Obstacle[], location: string): MirrorError {
  const names = obstacles.map(({ name }) => name).join(', ');
  const statements = (of: readonly Obstacle[], step: 'drop' | 'create'): string =>
    of.map((obstacle) => obstacle[step] ?? `-- ${obstacle.name}: no SQL is known.`).join('\n');
  return new MirrorError(
    `${location} cannot be migrated: what you have built on it needs columns that change their type or place: ${names}.`,
    {
      code: 'mirror.blocked_by_view',
      hint: [
        'Nothing was changed. Drop these, run bms-sync migrate, and make them again; adapt their SQL where it compares a column whose type changes:',
        statements(obstacles, 'drop'),
        '-- bms-sync migrate',
        statements([...obstacles].reverse(), 'create'),
      ].join('\n'),
    },
  );
}
