import type { ListedKind } from '../../src/catalog/kind.ts';
import { bodiesOf } from './bodies.ts';
import { isOurs, type Content, type Records, type Row } from './records.ts';
import type { Request } from './service.ts';
import type { Stage } from './stage.ts';
import { storedFields } from './stored.ts';

const CHURN = { none: 0, little: 0.03, much: 0.3 } as const;

/** A request is read: other people may do something just before it or after it. */
export function noteRequest(stage: Stage, { method, target }: Pick<Request, 'method' | 'target'>): void {
  const { random, personality, timeline } = stage;
  noteReading(stage, method, target);
  if (stage.isCalm) return;
  if (random.chance(CHURN[personality.churn])) act(stage);
  if (random.chance(CHURN[personality.churn]))
    timeline.after(random.integer(0, 3_000), () => {
      act(stage);
    });
}

/** While a list is read, somebody renews the token: from a later page on another user asks. */
export function changeToken(stage: Stage, { target }: Pick<Request, 'target'>): void {
  const { personality, timeline, otherTokenUntilMs, random } = stage;
  if (personality.token !== 'two in each sweep' || timeline.nowMs() >= otherTokenUntilMs) return;
  const isLater = Number(new URL(target, 'http://service').searchParams.get('page') ?? 1) > 1;
  if (isLater && random.chance(0.4)) stage.hasOtherToken = true;
}

/** Remembers when single records were read, and how long before each update: what was there by then must not be overwritten. */
function noteReading(stage: Stage, method: Request['method'], target: string): void {
  const { readAt, readBefore, timeline, service } = stage;
  if (method === 'GET') readAt.set(target, timeline.nowMs());
  if (method === 'PUT') readBefore.set(service.sends.length, readAt.get(target) ?? -1);
}

/** Something that another person does; never beyond recognition of what we may have made. */
export function act(stage: Stage): void {
  const { random, service, timeline, logLine, isCalm } = stage;
  const kind = random.pick(stage.kinds);
  const records = service.records.get(kind.name);
  if (isCalm || records === undefined) return;
  service.advance(timeline.nowMs());
  const action = random.pick(ACTIONS);
  logLine(`~ ${action.name}`);
  const nowMs = timeline.nowMs();
  const foreign = records.at(nowMs).filter(({ id }) => !isOurs(records, id));
  action(stage, { kind, records, nowMs, foreign, unique: random.integer(5_000, 99_999) });
}

interface Scene {
  readonly kind: ListedKind;
  readonly records: Records;
  readonly nowMs: number;
  /** Records that no send of ours has made. */
  readonly foreign: readonly Row[];
  readonly unique: number;
}

type ActOfOthers = (stage: Stage, scene: Scene) => void;

const create: ActOfOthers = (stage, { kind, unique }) => {
  enter(stage, kind, bodiesOf(kind).create(unique, stage.random));
};

const edit: ActOfOthers = ({ random, personality }, { kind, records, nowMs, unique }) => {
  const rows = records.at(nowMs);
  if (rows.length === 0) return;
  const fields = storedFields(kind, bodiesOf(kind).edit(unique, random), personality);
  records.edit(random.pick(rows).id, fields, { atMs: nowMs, actor: 'other' });
};

const remove: ActOfOthers = ({ random, personality }, { records, nowMs, foreign: all }) => {
  const foreign = personality.blanks === 'shown' ? all : all.slice(1); // The first alone may show some field.
  const row = random.chance(0.5) ? foreign.at(-1) : foreign[random.integer(0, foreign.length - 1)];
  if (row !== undefined) records.remove(row.id, nowMs);
};

const renumber: ActOfOthers = ({ random, personality }, { records, nowMs, foreign, unique }) => {
  if (personality.codesOfOthers === 'kept' || foreign.length === 0) return;
  const { id, content } = random.pick(foreign);
  if ('code' in content) records.edit(id, { code: `r-${unique}` }, { atMs: nowMs, actor: 'other' });
};

const restore: ActOfOthers = ({ random, personality }, { records, nowMs }) => {
  const gone = records.actions.filter(({ is }) => is === 'deleted');
  if (personality.returning === 'restored' && gone.length > 0) records.restore(random.pick(gone).id, nowMs);
};

/** Somebody takes our update back. */
const revert: ActOfOthers = (_stage, { records, nowMs }) => {
  const ours = records.actions.findLast(({ is, actor }) => is === 'edited' && typeof actor === 'object');
  if (ours?.before) records.edit(ours.id, ours.before.content, { atMs: nowMs, actor: 'other' });
};

const ACTIONS = [create, create, edit, edit, remove, renumber, restore, revert] as const;

/** A record goes, for so long that it is known to be gone, and comes back. */
export async function leaveAndReturn(stage: Stage, askForSweep: () => Promise<void>): Promise<void> {
  const { random, service, timeline } = stage;
  const records = service.records.get(random.pick(stage.kinds).name);
  const row = records?.at(timeline.nowMs()).findLast(({ id }) => !isOurs(records, id));
  if (records === undefined || row === undefined || stage.isCalm) return;
  service.advance(timeline.nowMs());
  records.remove(row.id, timeline.nowMs());
  for (let sweep = 0; sweep < 3; sweep++) {
    await askForSweep();
    await timeline.clock.sleep(16 * 60_000);
  }
  service.advance(timeline.nowMs());
  records.restore(row.id, timeline.nowMs());
}

/** Another person enters a record by hand. */
export function enter(
  { service, personality, timeline, logLine }: Stage,
  kind: ListedKind,
  body: Content,
): void {
  service.advance(timeline.nowMs());
  const id = service.records
    .get(kind.name)
    ?.create(storedFields(kind, body, personality), timeline.nowMs(), 'other');
  logLine(`~ entered ${kind.name} ${id ?? ''} ${JSON.stringify(body)}`);
}
