import type { Kind } from '../catalog/kind.ts';
import type { JsonObject } from '../lib/json.ts';
import { blankRecord } from './blank-record.ts';
import type { Company } from './generate/draw.ts';
import { idSequence } from './id-sequence.ts';
import { planOf } from './kind-plans.ts';
import { orderingOf } from './ordering.ts';
import { randomFrom } from './random.ts';
import { servedKind } from './served-kinds.ts';
import { createTable } from './table.ts';
import type { Pristine, Table } from './table.ts';

/** The truth of the simulated company: a kind is its catalogue name, e.g. `clients`, or `purchases`; ids are numbers. */
export interface World {
  count(kind: string): number;
  /** All ids, in the list's order. */
  ids(kind: string): readonly number[];
  /** The ids of the list from position `start` up to, but without, `end`. */
  slice(kind: string, start: number, end: number): readonly number[];
  get(kind: string, id: number): JsonObject | undefined;
  /** Adds a record, blank but for `fields`; it gets the next id if they have none. */
  insert(kind: string, fields: JsonObject): JsonObject;
  update(kind: string, id: number, fields: JsonObject): JsonObject;
  /** Removes a record, as if a user had deleted it in the service's own screens. */
  remove(kind: string, id: number): void;
}

interface WorldOptions {
  /** Number of clients; the other kinds scale from it. */
  readonly size: number;
  readonly seed: number;
  readonly systemId: number;
  /** Record kind to the company that its records name, where that is another one; their ids stay. */
  readonly companies?: Readonly<Record<string, number>>;
}

/** Creates a company whose every record follows from the seed, the record's kind and its index. */
export function createWorld(options: WorldOptions): World {
  const company = companyOf(options);
  const nameCompany = namingOf(options);
  const tables = new Map<string, Table>();
  const tableOf = (name: string): Table => {
    const table = tables.get(name) ?? createTable(pristineRecords(knownKind(name), company, nameCompany));
    tables.set(name, table);
    return table;
  };
  const existing = (name: string, id: number): JsonObject => {
    const record = tableOf(name).get(id);
    if (!record) throw new RangeError(`The sandbox has no ${name} with id ${id}.`);
    return record;
  };

  return {
    count: (name) => tableOf(name).count(),
    ids: (name) => tableOf(name).slice(0, tableOf(name).count()),
    slice: (name, start, end) => tableOf(name).slice(start, end),
    get: (name, id) => tableOf(name).get(id),
    insert: (name, fields) => {
      const table = tableOf(name);
      const id = typeof fields['id'] === 'number' ? fields['id'] : table.nextId();
      if (table.get(id)) throw new RangeError(`The sandbox already has ${name} with id ${id}.`);
      const blank = nameCompany(name, blankRecord(knownKind(name), options.systemId));
      const record = { ...blank, ...fields, id };
      table.put(id, record);
      return record;
    },
    update: (name, id, fields) => {
      const record = { ...existing(name, id), ...fields, id };
      tableOf(name).put(id, record);
      return record;
    },
    remove: (name, id) => {
      existing(name, id);
      tableOf(name).remove(id);
    },
  };
}

type NameCompany = (kind: string, record: JsonObject) => JsonObject;

function namingOf({ companies = {} }: WorldOptions): NameCompany {
  return (kind, record) => {
    const other = companies[kind];
    return other === undefined || !('system_id' in record) ? record : { ...record, system_id: other };
  };
}

function knownKind(name: string): Kind {
  const kind = servedKind(name);
  if (!kind) throw new TypeError(`The sandbox has no kind named ${name}.`);
  return kind;
}

function companyOf({ size, seed, systemId }: WorldOptions): Company {
  return {
    systemId,
    count: (kind) => planOf(kind).count(size),
    idOf: (kind, index) => idSequence(systemId, planOf(kind).firstId).idOf(index),
    randomOf: (kind, index) => randomFrom(seed, systemId, kind, index),
  };
}

function pristineRecords(kind: Kind, company: Company, nameCompany: NameCompany): Pristine {
  const { firstId, generate } = planOf(kind.name);
  const count = company.count(kind.name);
  const sequence = idSequence(company.systemId, firstId);
  const ordering = orderingOf(kind);
  const { indexAt, rankOf } = ordering.permutation(count);
  return {
    count,
    ordering,
    lastId: sequence.idOf(count - 1),
    idAt: (position) => sequence.idOf(indexAt(ordering.newestFirst ? count - 1 - position : position)),
    record: (id) => {
      const index = sequence.indexOf(id);
      if (index < 0 || index >= count) return undefined;
      const random = company.randomOf(kind.name, index);
      return nameCompany(kind.name, generate({ company, random, id, index, rank: rankOf(index), count }));
    },
  };
}
