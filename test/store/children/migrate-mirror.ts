/** Migrates FILE and prints whether it had to; as `FILE STEP`, shows it before that schema statement and holds still. */
import { writeSync } from 'node:fs';
import { setInterval } from 'node:timers';
import { KINDS } from '../../../src/catalog/kinds/catalog.ts';
import { migrate } from '../../../src/views/migrate.ts';
import type { Session, Transaction } from '../../../src/db/session/session.ts';
import { openSqliteSession } from '../../../src/db/sqlite/session.ts';

const [path = '', holdAt = 'never'] = process.argv.slice(2);
const session = openSqliteSession(path);
let step = 0;

const holding = (tx: Transaction): Transaction => ({
  ...tx,
  execute: async (statement) => {
    if (String(step++) === holdAt) {
      writeSync(1, 'holding\n');
      setInterval(() => undefined, 1000); // Holding still must not end the process.
      await new Promise(() => undefined);
    }
    await tx.execute(statement);
  },
});
const held: Session = { ...session, atomically: (work) => session.atomically((tx) => work(holding(tx))) };

const migrated = await migrate(held, KINDS);
await session.close();
writeSync(1, `${migrated ? 'migrated' : 'current'} after ${step} statements\n`);
