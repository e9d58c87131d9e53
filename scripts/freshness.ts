/**
 * Measures how old changes are when they are seen: by sweeps alone, and by half as many sweeps with the rest of their requests
 * spent between them (`test/pull/freshness/measure.ts`). Time is simulated and requests are counted, so that a busy machine
 * measures the same. Prints what goes into docs/figures.md. `-- --minutes 10 --size 990 --seed a` are the usual ones.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KINDS } from '../src/catalog/kinds/catalog.ts';
import { openSqliteSession } from '../src/db/sqlite/session.ts';
import { migrate } from '../src/views/migrate.ts';
import { mean, measure, p95, type Measured } from '../test/pull/freshness/measure.ts';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    size: { type: 'string', default: '990' },
    seed: { type: 'string', default: 'a' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'freshness-'));
const minutes = Number(options.minutes);

async function play(sweepMinutes: number, perMinute: number | null): Promise<Measured> {
  await using session = openSqliteSession(join(folder, `${sweepMinutes}.db`));
  await migrate(session, KINDS);
  const { size, seed } = options;
  return await measure(session, { size: Number(size), seed, minutes, sweepMinutes, perMinute });
}

function print(what: string, value: (measured: Measured) => number): void {
  const alone = value(sweeps) / 1000;
  const between = value(readings) / 1000;
  const ratio = (between / alone).toFixed(2);
  console.log(`${what}: ${alone.toFixed(1)} s by sweeps, ${between.toFixed(1)} s with readings (${ratio} ×)`);
}

const sweeps = await play(1, null);
const readings = await play(2, Math.round(sweeps.requests / minutes / 2));
rmSync(folder, { recursive: true });
console.log(`${minutes} minutes; requests: ${sweeps.requests} by sweeps, ${readings.requests} with readings`);
print('new records, 95 of 100', ({ created }) => p95(created));
print('new records on average', ({ created }) => mean(created));
print('new records in lists by code, 95 of 100', ({ createdByCode }) => p95(createdByCode));
print('new records in lists by code on average', ({ createdByCode }) => mean(createdByCode));
print('updates on average', ({ updated }) => mean(updated));
