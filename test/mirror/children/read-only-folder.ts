/** Opens each of the given paths as a user who may write nothing there, tries to write, and prints what came of it. */
import Database from 'better-sqlite3';
import { SyncError } from '../../../src/lib/sync-error.ts';
import { openSqliteSession } from '../../../src/mirror/sqlite/session.ts';

new Database(':memory:').close(); // Loads the native addon while we may still read it.
if (process.getuid?.() === 0) {
  process.setgid?.(65534);
  process.setuid?.(65534);
}

for (const path of process.argv.slice(2)) {
  try {
    await using session = openSqliteSession(path);
    await session.atomically((tx) => tx.execute('create table written (a TEXT)'));
    console.log('written');
  } catch (error) {
    console.log(error instanceof SyncError ? `${error.name} ${error.code}` : String(error));
  }
}
