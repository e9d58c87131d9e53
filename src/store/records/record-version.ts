import { hash } from 'node:crypto';

/** The column of an export that names the state of a record which a row shows. */
export const VERSION_COLUMN = '_version';

/** Names a state of a record by its `_raw`, as a text that no spreadsheet takes for a number or a time. */
export const versionOf = (raw: string): string => `v${hash('sha256', raw).slice(0, 10)}`;
