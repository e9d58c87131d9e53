import type { Kind } from '../src/catalog/kind.ts';
import type { JsonObject } from '../src/lib/json/json.ts';
import { blankRecord } from './generate/from-catalogue.ts';
import { LAST_DAY, datesUntil } from './generate/text-values.ts';
import { orderingOf } from './ordering.ts';
import { hash, randomFrom, type Company } from './generate/draw.ts';
import { servedKind, kindSetup } from './served-kinds.ts';
import { createTable, type Pristine, type Table } from './table.ts';

/** The largest company whose ids stay within its range: two records to a client, one id in two unused. */
export const LARGEST_SIZE = 2_000_000;

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

export interface WorldOptions {
  /** Number of clients; the other kinds scale from it. */
  readonly size: number;
  readonly seed: number;
  /** The company; another one has wholly different ids. */
  readonly systemId: number;
  /** The latest date in the generated data. By default a fixed one, so that a test sees the same data always. */
  readonly today?: Date;
  /** Record kind to the company that its records name, where that is another one; their ids stay. */
  readonly companies?: Readonly<Record<string, number>>;
}

/** Creates a company whose every record follows from the seed, the day, the record's kind and its index. */
export function createWorld(options: WorldOptions): World {
  const { size, seed, systemId, today = LAST_DAY } = options;
  const company: Company = {
    systemId,
    dateOf: datesUntil(today),
    count: (kind) => kindSetup(kind).count(size),
    idOf: (kind, index) => idSequence(systemId, kindSetup(kind).firstId).idOf(index),
    randomOf: (kind, index) => randomFrom(seed, systemId, kind, index),
  };
  const nameCompany = (kind: string, record: JsonObject): JsonObject => {
    const otherCompany = options.companies?.[kind];
    return otherCompany === undefined || !('system_id' in record)
      ? record
      : { ...record, system_id: otherCompany };
  };
  const tables = new Map<string, Table>();
  const tableOf = (name: string): Table => {
    const table = tables.get(name) ?? createTable(pristineRecords(servedKind(name), company, nameCompany));
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
      const blank = nameCompany(name, blankRecord(servedKind(name), systemId, today));
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

function pristineRecords(
  kind: Kind,
  company: Company,
  nameCompany: (kind: string, record: JsonObject) => JsonObject,
): Pristine {
  const { firstId, generate } = kindSetup(kind.name);
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

const COMPANY_RANGE = 10_000_000;
const STRIDE = 2;

/**
 * The ids of one kind: rising with creation, with holes where records of the past are gone. Companies have ranges of their own,
 * so that no id of one is ever an id of another.
 */
function idSequence(systemId: number, firstId: number) {
  const start = systemId * COMPANY_RANGE + firstId;
  const idOf = (index: number): number => start + index * STRIDE + (hash(`${firstId}/${index}`) % STRIDE);
  return {
    idOf,
    /** The index of the record with this id, or -1 where the id is in a hole or below the first. */
    indexOf: (id: number): number => {
      const index = Math.floor((id - start) / STRIDE);
      return index >= 0 && idOf(index) === id ? index : -1;
    },
  };
}
