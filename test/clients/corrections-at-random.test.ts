import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Workbook } from '@cj-tech-master/excelts';
import { parseCsv } from '@cj-tech-master/excelts/csv';
import { expect, inject, test } from 'vitest';
import { KINDS } from '../../src/catalog/kinds/catalog.ts';
import { isShownAsWritten } from '../../src/diff/merge-update.ts';
import type { Json, JsonObject } from '../../src/lib/json/json.ts';
import { approvePlan } from '../../src/features/plans/work/decide-plan.ts';
import { showPlan, type ShownPlan } from '../../src/features/plans/work/plan-document.ts';
import { atRest, entries } from '../end-to-end/outbound-ledger.ts';
import { serving, setScene, type Scene } from '../end-to-end/outbound-scene.ts';
import { kindNamed } from '../store/temp-mirror.ts';
import { edit, saved } from '../features/plans/work/support.ts';
import { document, run } from '../support/command-line.ts';
import { runProgram, start } from '../support/program.ts';
import { requestNumber } from '../support/requests.ts';
import { saveInOffice } from './office.ts';
import { randomNumbers } from '../support/random-numbers.ts';

const ROUNDS = 10;
const EDITS = 50;
const CLIENTS = kindNamed('clients');
const TEXT_FIELDS = ['name', 'city', 'address', 'phone', 'fax', 'zipcode', 'adresse2'];
// prettier-ignore
const WORDS = [
  'Zoé', "L'Anse", 'Gaspé & Fils', '000123', '3-4', '=1+1', '1E+05', '+1 514', 'Ω≠', 'a;b', 'NULL',
];

/** What became of all rounds. */
const figures = {
  edits: 0,
  planned: 0,
  refused: 0,
  stale: 0,
  done: 0,
  parked: 0,
  created: 0,
  returned: 0,
  kills: 0,
  others: 0,
};

interface Round {
  readonly scene: Scene;
  readonly folder: string;
  readonly n: number;
  /** The service's clients as they must be, by what the plans say and other people did. */
  readonly model: Map<number, JsonObject>;
  /** From 0 to 1. */
  readonly random: () => number;
}

const oneOf = <Item>({ random }: Round, items: readonly Item[]): Item => {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error('There is nothing to choose from.');
  return item;
};

/** Edits cells of an export, and has LibreOffice open and save it: a workbook, or CSV in French. */
async function editedFile(round: Round): Promise<string> {
  const { scene, folder, n, random, model } = round;
  const inner = join(folder, String(n));
  mkdirSync(inner);
  const isBook = n % 2 === 0;
  const path = join(inner, isBook ? 'clients.xlsx' : 'clients.csv');
  const excel = isBook ? ['--full'] : ['--excel'];
  expect(await run(['export', 'clients', ...excel, '--out', path], scene.env)).toMatchObject({ code: 0 });
  const edits = Array.from({ length: EDITS }, (_, index) => {
    const field = random() < 0.15 ? 'credit' : random() < 0.1 ? 'term' : oneOf(round, TEXT_FIELDS);
    const text = field === 'credit' ? `${n}${index}.25` : `${oneOf(round, WORDS)} ${n}-${index}`.trim();
    const cells = { [field]: field === 'term' ? String(n * 100 + index) : text };
    const isNew = index % 10 === 0;
    return isNew
      ? { id: '', cells: { code: `NEW-${n}-${index}`, name: text } }
      : { id: String(oneOf(round, [...model.keys()])), cells };
  });
  figures.edits += edits.length;
  if (isBook) await editBook(path, edits);
  else {
    const lines = parseCsv(readFileSync(path, 'utf8').slice(1), { delimiter: ';' }).filter(
      (line) => line.length > 1,
    );
    for (const { id, cells } of edits) edit(lines, id, withCommas(cells));
    writeFileSync(path, saved(lines));
  }
  return saveInOffice(path);
}

interface Edit {
  readonly id: string;
  readonly cells: Readonly<Record<string, string>>;
}

const withCommas = ({ credit, ...cells }: Edit['cells']): Edit['cells'] =>
  credit === undefined ? cells : { ...cells, credit: credit.replace('.', ',') };

async function editBook(path: string, edits: readonly Edit[]): Promise<void> {
  const book = new Workbook();
  await book.xlsx.readFile(path);
  const [sheet] = book.worksheets;
  if (sheet === undefined) throw new Error('The workbook has no sheet.');
  const columns = Array.from({ length: sheet.columnCount }, (_, at) => sheet.getCell(1, at + 1).text);
  const rowOf = (id: string): number => {
    if (id === '') return sheet.rowCount + 1;
    for (let row = 2; row <= sheet.rowCount; row++)
      if (sheet.getCell(row, columns.indexOf('id') + 1).text === id) return row;
    throw new Error(`The workbook has no record ${id}.`);
  };
  for (const { id, cells } of edits) {
    const row = rowOf(id);
    for (const [name, text] of Object.entries(cells))
      sheet.getCell(row, columns.indexOf(name) + 1).value = ['credit', 'term'].includes(name)
        ? Number(text)
        : text;
  }
  await book.xlsx.writeFile(path);
}

/** Other people change some records in the service. */
function meet(
  { scene, model, random }: Round,
  count: number,
  cellOf: () => { id: number; field: string },
): void {
  for (let one = 0; one < count; one++) {
    const { id, field } = cellOf();
    const theirs = { [field]: `theirs ${Math.floor(random() * 1e6)}` };
    model.set(id, scene.service.world.update('clients', id, theirs));
    figures.others++;
  }
}

/** Applies a plan by a process that is killed, and by others until one has ended; false where it is stale. */
async function applied({ scene: { env }, random }: Round, id: number): Promise<boolean> {
  for (let kill = 0; kill < 2; kill++) {
    const program = start(['apply', String(id)], { env });
    await Promise.race([program.ended, pause(random() * 1_200)]);
    program.child.kill('SIGKILL');
    await program.ended;
    figures.kills++;
  }
  const { code, stderr } = await runProgram(['apply', String(id)], { env });
  if (code === 0) return true;
  expect(stderr).toMatch(/is stale/);
  return false;
}

/** Sends what is in the outbox by processes that are killed, and by one that is not. */
async function sent({ scene, random }: Round): Promise<void> {
  for (const isKilled of [true, true, false]) {
    const program = start(['serve'], { env: scene.env });
    await serving(program);
    if (isKilled)
      await Promise.race([requestNumber(scene.gate, 1 + Math.floor(random() * 60)), pause(1_500)]);
    else await atRest(scene);
    program.child.kill('SIGKILL');
    await program.ended;
    figures.kills += isKilled ? 1 : 0;
  }
}

/** Notes what a plan has changed by its own word; of the cells that it has changed, nobody had touched any. */
function note({ scene, model }: Round, { rows }: ShownPlan): void {
  for (const { recordId, operation, cells, entry } of rows) {
    if (entry === null) continue;
    if (entry.state === 'parked') figures.parked++;
    if (entry.state !== 'done') continue;
    figures.done++;
    const id = Number(recordId);
    const values = Object.fromEntries(cells.map((cell) => [cell.field, cell.new]));
    if (operation === 'create') {
      const made = scene.service.world.ids('clients').filter((one) => {
        return scene.service.world.get('clients', one)?.['code'] === values['code'];
      });
      expect(made).toHaveLength(1);
      figures.created++;
      for (const one of made) model.set(one, { ...scene.service.world.get('clients', one), ...values });
      continue;
    }
    const record = model.get(id) ?? {};
    const touched = cells.filter(({ field, ...cell }) =>
      [cell.old, cell.new].every((value) => !isShownAsWritten(CLIENTS, field, value, record[field])),
    );
    expect(touched).toEqual([]);
    model.set(id, { ...record, ...values });
  }
}

/** The service has what the model has, and no other records. */
function expectModel({ scene: { service }, model }: Round): void {
  expect(service.world.ids('clients').toSorted()).toEqual([...model.keys()].toSorted());
  const wrong = [...model].flatMap(([id, wanted]) => {
    const record = service.world.get('clients', id) ?? {};
    return Object.entries(wanted)
      .filter(([field, value]) => !isShownAsWritten(CLIENTS, field, value, record[field]))
      .map(([field, value]) => [id, field, value, record[field]]);
  });
  expect(wrong).toEqual([]);
}

/** Approves, applies and sends a plan; null where it has gone stale. */
async function carriedOut(round: Round, id: number, beforeSending: () => void): Promise<ShownPlan | null> {
  const { session, env } = round.scene;
  const { stderr } = await run(['apply', String(id)], env);
  if (stderr.includes(' is stale: ')) return null; // Nobody can approve it any more.
  expect(stderr).toContain('waits for the approval');
  await approvePlan(session, { kinds: KINDS, id, by: 'Marie', now: new Date(), approvals: 1 });
  if (!(await applied(round, id))) return null;
  beforeSending();
  await sent(round);
  const plan = await showPlan(session, KINDS, id);
  const keys = (await entries(round.scene))
    .map(({ key }) => key)
    .filter((key) => key.startsWith(`plan:${id}:`));
  const wanted = plan.rows
    .filter(({ cells }) => cells.length > 0)
    .map(({ position }) => `plan:${id}:${position}`);
  expect(keys.toSorted()).toEqual(wanted.toSorted());
  note(round, plan);
  expectModel(round);
  for (const entry of (await entries(round.scene)).filter(({ state }) => state === 'parked'))
    await run(['outbox', 'abandon', String(entry.id)], env);
  return plan;
}

/** The way back returns each cell that has not changed since, and shows why others stay. */
async function undone(round: Round, plan: ShownPlan, before: ReadonlyMap<number, JsonObject>): Promise<void> {
  const { env } = round.scene;
  const done = plan.rows.filter(({ operation, entry }) => operation === 'update' && entry?.state === 'done');
  const cells = done.flatMap(({ recordId, cells: some }) =>
    some.map(({ field }) => ({ id: Number(recordId), field })),
  );
  const touchable = cells.filter(({ field }) => TEXT_FIELDS.includes(field));
  const touched = touchable.slice(0, 4);
  for (const cell of touched) meet(round, 1, () => cell);
  await run(['pull', 'clients'], env);
  // A kill may have lost the answer to an update: its values are then unproven, and stay without the option.
  const undo = await run(['undo', String(plan.id), '--unproven', '--json'], env);
  const { id } = document(undo) as { readonly id: number };
  const back = await carriedOut(round, id, () => undefined);
  const isTouched = (one: number, field: string): boolean =>
    touched.some((cell) => cell.id === one && cell.field === field);
  for (const { recordId, cells: some } of done)
    for (const { field } of some) {
      const now: Json | undefined = round.scene.service.world.get('clients', Number(recordId))?.[field];
      const then = before.get(Number(recordId))?.[field] ?? null;
      if (isTouched(Number(recordId), field)) expect(now).toMatch(/^theirs /);
      else
        expect([recordId, field, isShownAsWritten(CLIENTS, field, then, now ?? null)]).toEqual([
          recordId,
          field,
          true,
        ]);
    }
  figures.returned += back?.rows.filter(({ entry }) => entry?.state === 'done').length ?? 0;
}

const planOf = async ({ scene: { env } }: Round, file: string): Promise<ShownPlan> =>
  document(await run(['plan', file, '--create', '--json'], env)) as ShownPlan;

async function play(round: Round): Promise<void> {
  const { scene, n, model } = round;
  await run(['pull', 'clients'], scene.env);
  const file = await editedFile(round);
  const anyCell = () => ({ id: oneOf(round, [...model.keys()]), field: oneOf(round, TEXT_FIELDS) });
  meet(round, 4, anyCell); // Some rows are refused then, where the mirror knows of it.
  if (n % 2 === 0) await run(['pull', 'clients'], scene.env);
  let planned = await planOf(round, file);
  if (n % 5 === 4) {
    const [row] = planned.rows.filter(
      ({ operation, cells }) =>
        operation === 'update' && cells.some(({ field }) => TEXT_FIELDS.includes(field)),
    );
    const field = row?.cells.find((cell) => TEXT_FIELDS.includes(cell.field))?.field ?? 'name';
    meet(round, 1, () => ({ id: Number(row?.recordId), field }));
    await run(['pull', 'clients'], scene.env);
    expect(await carriedOut(round, planned.id, () => undefined)).toBeNull();
    figures.stale++;
    planned = await planOf(round, file);
  }
  figures.planned += planned.counts.updates + planned.counts.creates;
  figures.refused += planned.counts.refusals;
  const before = new Map(model);
  const plan = await carriedOut(round, planned.id, () => {
    meet(round, 4, anyCell);
  });
  if (plan === null) throw new Error(`Plan ${planned.id} is stale, though the mirror has not moved.`);
  if (n % 2 === 1) await undone(round, plan, before);
}

test(
  `${ROUNDS * EDITS} random edits by LibreOffice, beside other people and kills, change what was approved and nothing else`,
  { timeout: 1_800_000 },
  async ({ onTestFinished }) => {
    const scene = await setScene(onTestFinished, { size: 120, env: { BMS__PLANS__APPROVALS: '1' } });
    const folder = mkdtempSync(join(tmpdir(), 'bms-corrections-'));
    onTestFinished(() => {
      rmSync(folder, { recursive: true, force: true });
    });
    const { world } = scene.service;
    const model = new Map(world.ids('clients').map((id) => [id, world.get('clients', id) ?? {}]));
    const random = randomNumbers(inject('seed'));
    for (let n = 0; n < ROUNDS; n++) await play({ scene, folder, n, model, random });
    console.log('FIGURE', 'random edits by LibreOffice', figures);
    expect(figures.done).toBeGreaterThan(100);
  },
);
