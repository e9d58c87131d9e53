/** Begins a run and a sweep of clients in the mirror at URL as of so many SECONDS ago, shows it, and never ends them. */
import { writeSync } from 'node:fs';
import { setInterval } from 'node:timers';
import { claimKind } from '../../../src/store/kinds/kind-lease.ts';
import { passLeases } from '../../support/lapse.ts';
import { openSession } from '../../../src/db/open-session.ts';
import { startRun } from '../../../src/store/runs/run-store.ts';

const [url = '', ago = '0'] = process.argv.slice(2);
const session = await openSession(url);
const owner = 'another-host:1:x';
await startRun(session, { owner, now: new Date(), command: 'pull', kinds: ['clients'] });
await claimKind(session, 'clients', owner);
await passLeases(session, Number(ago));
writeSync(1, 'begun\n');
setInterval(() => undefined, 1000); // Until it is killed.
