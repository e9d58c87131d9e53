import { pullClients } from './pull-clients.ts';

/** Pulls the clients once in a process of its own and prints what it took: `pull-once.ts URL DATABASE IN_FLIGHT`. */
const [url = '', database = '', inFlight = '8'] = process.argv.slice(2);
const { report, seconds, loopDelayP99Ms } = await pullClients({ url, database, inFlight: Number(inFlight) });
const { rows, created, updated, state } = report;
const peakMemoryMb = Math.round(process.resourceUsage().maxRSS / 1000);
console.log(JSON.stringify({ state, rows, created, updated, seconds, peakMemoryMb, loopDelayP99Ms }));
