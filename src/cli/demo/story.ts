import { sql } from 'drizzle-orm';
import { openExistingMirror } from '../../app/open-mirror.ts';
import { pullOnce } from '../../app/pull.ts';
import type { RecordedChange } from '../../events/read-changes.ts';
import { compactJson } from '../../lib/json/json.ts';
import type { Row } from '../../db/session/session.ts';
import { textTable } from '../parts/io.ts';
import type { ProgressDisplay } from '../parts/progress.ts';
import { changeThree } from './keep-changing.ts';
import { DEMO_DATABASE, eventLine, pullEvents, pushClient, type DemoStage } from './stage.ts';

const MAX_PULLS = 6;

/** Another user changes, adds and deletes a client; the next pulls find it out, the deletion once it is proved. */
export async function showEvents(stage: DemoStage): Promise<readonly RecordedChange[]> {
  const { sandbox, io, print } = stage;
  print(
    '\n2. Another user changes a client in the service, adds one and deletes one. The next pulls find:\n',
  );
  changeThree(sandbox.world);
  const events: RecordedChange[] = [];
  const isDone = (): boolean => events.some((event) => event.change === 'deleted') || io.signal.aborted;
  for (let pulls = 0; pulls < MAX_PULLS && !isDone(); pulls++) {
    const newEvents = await pullEvents(stage, events.at(-1)?.seq ?? 0);
    for (const event of newEvents) print(eventLine(event));
    events.push(...newEvents);
  }
  if (io.signal.aborted) return events;
  print(
    '\n  The service does not mark deletions: the row was deleted only after the list and two requests had proved it.',
  );
  return events;
}

/** A create arrives, and its answer is lost on the way: the list shows it, and it is not sent again. Null after Ctrl-C. */
export async function showLostAnswer(stage: DemoStage) {
  const { sandbox, io, print } = stage;
  const isOver = (): boolean => io.signal.aborted;
  if (isOver()) return null;
  print('\n3. You create a client. It arrives, but the answer is lost on the way:\n');
  sandbox.setFaults([{ on: { kind: 'clients', method: 'POST' }, times: 1, do: { drop: 'after' } }]);
  const before = creates(stage);
  const data = { code: 'DEMO-1', name: 'Garage Tremblay' };
  const { id, state, recordId } = await pushClient(stage, data);
  if (isOver()) return null;
  const sent = creates(stage) - before;
  const { world } = sandbox;
  const inService = world.ids('clients').filter((id) => world.get('clients', id)?.['code'] === 'DEMO-1');
  print(`  sent:    create clients ${compactJson(data)}`);
  print('  unknown: no answer came, so it may exist or not; sending it again could create a duplicate');
  print(`  ${state}:    the list shows it as ${recordId ?? 'nothing'}; requests sent: ${sent}`);
  print(`  clients with the code DEMO-1 in the service: ${inService.length}`);
  return { entryId: id, state, recordId, sent, inService: inService.length };
}

const creates = (stage: DemoStage): number =>
  stage.sandbox.requests.filter((request) => request.method === 'POST').length;

/** The most-bought products; the sums are exact, because they count whole units of 0.0001. */
export const QUESTION = `select product_name, count(*) as lines, printf('%.2f', sum(produit_total_e4) / 10000.0) as total
from bi_purchase_products group by product_name order by sum(produit_total_e4) desc limit 5`;

/** Reads the whole service into the mirror, and asks the mirror a first question. */
export async function firstPull(stage: DemoStage, display: ProgressDisplay) {
  const { sandbox, config, logger, io, print } = stage;
  const { signal } = io;
  const reading = { kinds: [], acceptNewSource: false, logger, signal, onProgress: display.onProgress };
  const report = await pullOnce(config, reading).finally(display.stop);
  const kinds = report.kinds.map((read) => {
    return { kind: read.kind, inService: sandbox.world.count(read.kind), inMirror: read.rows };
  });
  await using session = await openExistingMirror(config);
  const answer: readonly Row[] = await session.query(sql.raw(QUESTION));
  const seconds = (report.durationMs / 1000).toFixed(1);
  print(`1. A simulated service is mirrored into ${DEMO_DATABASE}, in ${seconds} s:\n`);
  const rows = kinds.map((counts) => [counts.kind, counts.inService, counts.inMirror]);
  print(textTable(['kind', 'in the service', 'in the mirror'], rows));
  print('\nA first query:\n');
  print(`${QUESTION};\n`.split('\n'));
  const cells = answer.map((row) => Object.values(row));
  print(textTable(Object.keys(answer[0] ?? {}), cells));
  return { report, kinds, answer };
}
