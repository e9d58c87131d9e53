import { randomFrom } from '../../src/sandbox/generate/draw.ts';
import type { Random } from '../../src/sandbox/generate/draw.ts';

/** Writes one record as the service sends it: whole JSON text, numbers that no float holds among them. */
export type WriteRecord = (id: number, random: Random) => string;

const amount = (random: Random): string => `${random.integer(-50, 4000)}.${random.digits(2)}`;
const name = (random: Random): string =>
  `${random.pick(['Béton', 'Fer', 'Bois', 'Verre', 'Łódź', 'N\\u00fcss'])} ${random.digits(3)}`;
const day = (random: Random): string =>
  `20${random.integer(10, 26)}-0${random.integer(1, 9)}-1${random.digits(1)}`;
const time = (random: Random): string => `1${random.digits(1)}:${random.integer(10, 59)}:00`;

export const WRITERS: Readonly<Record<'clients' | 'categories' | 'bookings' | 'punches', WriteRecord>> = {
  clients: (id, random) =>
    `{"id":${id},"code":"C${id}","name":"${name(random)}","inactive":${random.integer(0, 1)},` +
    `"creation_date":"${day(random)}","city":"${name(random)}","phone":null,"credit":${amount(random)},` +
    `"term":${random.integer(0, 90)},"contacts":[{"id":${id * 7},"nom":"${name(random)}","email":null}],` +
    `"legacy_ref":90071992547409${random.digits(4)},"rate":0.1${random.digits(1)}0}`,

  categories: (id, random) =>
    `{"id":${id},"code":"K${id}","name_fr":"${name(random)}","name_en":"${name(random)}","status":1,` +
    `"sync_web":${random.integer(0, 1)},"img_paths":[],"margin":${amount(random)}}`,

  bookings: (id, random) =>
    `{"id":${id},"code":"B${id}","inactive":0,"pickup_date":"${day(random)}","client_id":${random.integer(1, 99)},` +
    `"price":${amount(random)},"items":[{"id":${id * 3},"value":${amount(random)}}]}`,

  punches: (id, random) =>
    `{"id":${id},"appointment_id":${random.integer(1, 99)},"user_id":${random.integer(1, 5)},"date":"${day(random)}",` +
    `"start_time":"${time(random)}","end_time":null,"ptotal":"${amount(random)}","note":"${name(random)}","system_id":17}`,
};

export type ServedName = keyof typeof WRITERS;

/** The records of a kind by id; the same for the same origin. */
export function recordsOf(kind: ServedName, count: number): Map<string, string> {
  const first = { clients: 101, categories: 501, bookings: 701, punches: 901 }[kind];
  return new Map(
    Array.from({ length: count }, (_none, index) => {
      const id = first + index * 3;
      return [String(id), WRITERS[kind](id, randomFrom('malformed', kind, id))];
    }),
  );
}
