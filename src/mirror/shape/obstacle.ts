import { MirrorError } from '../session/errors.ts';

/** An object of a user's own that blocks a migration. */
export interface Obstacle {
  /** The name with its schema, quoted if needed. */
  readonly name: string;
  /** SQL that drops it; null if unknown. */
  readonly drop: string | null;
  /** SQL that creates it again; null if unknown. */
  readonly create: string | null;
}

/**
 * The error that names the users' objects that block a migration, with SQL to drop and to recreate them.
 *
 * @param obstacles Dependants before the objects that they need.
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
