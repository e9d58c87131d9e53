/** The engine tables as drizzle-kit wants them: named exports. Nothing else reads this file. */

export * from '../../src/store/tables/change-tables.ts';
export * from '../../src/store/tables/engine-tables.ts';
export * from '../../src/store/tables/outbox-tables.ts';
export * from '../../src/features/plans/tables.ts';
export * from '../../src/store/tables/user-tables.ts';
export * from '../../src/store/tables/webhook-tables.ts';
