/** The right to write the tables that mirror the service: our connections have it, other programs get an error with instructions. */

/** The SQL function of our writing connections in SQLite. Its name is the message that other programs get: `no such function: …`. */
export const GUARD_FUNCTION = 'read_only_copy_use_bms_sync_push_or_table_outbox';

/** The setting of our transactions in PostgreSQL. It belongs to one transaction, so that it works behind a pooler. */
export const GUARD_SETTING = 'bms_sync.writes';
