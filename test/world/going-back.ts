import { sql } from 'drizzle-orm';
import { SyncError } from '../../src/lib/sync-error.ts';
import { resumeSends } from '../../src/outbound/freeze.ts';
import { readFrozen } from '../../src/store/outbox/freeze-store.ts';
import { keepState } from '../support/kept-state.ts';
import { askForSweep, pushCreate } from './applications.ts';
import { bodiesOf } from './bodies.ts';
import { isOurs } from './records.ts';
import { followChanges } from './reader.ts';
import type { Stage } from './stage.ts';
import { storedFields } from './stored.ts';

/** How the mirror's database has gone back to what it was some minutes before. */
export interface GoneBack {
  readonly fromMs: number;
  readonly toMs: number;
}

const MINUTE = 60_000;

/**
 * The mirror's database goes back by some minutes: a standby takes its place that is behind, under processes that go on; or the whole
 * machine is put back, with the count of our sends that stands beside the database, and its processes start anew.
 */
export async function goBack(stage: Stage): Promise<void> {
  const { session, timeline, random, personality, mark, lives, logLine } = stage;
  await askForSweep(stage); // What is there before a create is fresh.
  await timeline.clock.sleep(random.integer(1, 3) * MINUTE);
  for (const number of [60, 61]) await pushCreate(stage, number);
  stage.remains.push(followChanges(stage));
  const fromMs = timeline.nowMs();
  const { sends } = mark;
  const { restore } = await keepState(session);
  timeline.stir();
  for (const number of [70, 71, 72]) {
    await edit(stage, 'first', number);
    await timeline.clock.sleep((random.integer(1, 10) * MINUTE) / 3);
  }
  if (personality.goesBack === 'with the count of our sends') {
    for (const life of lives) life.isOver = true;
    mark.sends = sends;
  }
  await restore();
  stage.goneBack = { fromMs, toMs: timeline.nowMs() };
  logLine(`— the database goes back to ${fromMs}`);
  await forget(stage, fromMs);
  await edit(stage, 'last', 73); // By an event whose number a reader has had before.
  stage.wakeUp.wake();
  await timeline.clock.sleep(random.pick([0, 0, 1, 10, 30]) * MINUTE);
  await resume(stage);
}

/** Another person changes a record, and the mirror is told to read it. */
async function edit(stage: Stage, which: 'first' | 'last', number: number): Promise<void> {
  const { kinds, service, timeline, random, personality } = stage;
  service.advance(timeline.nowMs());
  for (const kind of kinds) {
    const records = service.records.get(kind.name);
    const rows = records?.at(timeline.nowMs()).filter(({ id }) => !isOurs(records, id)) ?? [];
    const row = rows.at(which === 'first' ? 0 : -1);
    const fields = storedFields(kind, bodiesOf(kind).edit(number, random), personality);
    if (row !== undefined) records?.edit(row.id, fields, { atMs: timeline.nowMs(), actor: 'other' });
  }
  await askForSweep(stage);
}

/** What the database no longer knows of is no entry and no run any more: their numbers come a second time. */
async function forget(stage: Stage, fromMs: number): Promise<void> {
  const { session, timeline, intents, pulls, forgotten } = stage;
  const known = new Set((await session.query(sql`select id from outbox`)).map(({ id }) => Number(id)));
  timeline.stir();
  const kept = intents.filter(({ entry }) => known.has(entry));
  forgotten.push(...intents.filter(({ entry }) => !known.has(entry)));
  intents.splice(0, Infinity, ...kept);
  pulls.splice(0, Infinity, ...pulls.filter(({ toMs }) => toMs <= fromMs));
}

/** A person lets sends go on, who may be quicker than the processes that would pause them. */
async function resume({ session, timeline, sendCounter, logLine }: Stage): Promise<void> {
  const frozen = await resumeSends(session, sendCounter);
  timeline.stir();
  logLine(`— a person resumes sends: ${frozen?.reason ?? 'none were paused'}`);
}

/** Where they are paused again, a person lets them go on again. */
export async function resumeIfPaused(stage: Stage): Promise<void> {
  const frozen = await readFrozen(stage.session);
  if (frozen !== null) await resume(stage);
}

/** Whether an error is one that the going back explains: a run or a lease that is not there any more. */
export const isOfGoingBack = ({ goneBack }: Stage, error: unknown): boolean =>
  goneBack !== null && error instanceof SyncError;
