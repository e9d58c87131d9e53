import type { JsonObject } from '../../src/lib/json/json.ts';
import type { Fault } from '../../src/sandbox/faults.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';

/** Lists that people change in the service's own screens all the time. */
export const MOVING_KINDS = ['clients', 'providers', 'products', 'projects'] as const;

/** What the service's world went through, to hold the mirror's word against. */
export interface Life {
  /** One change by a person: a record is made, changed or removed. */
  readonly act: () => void;
  /** Removed records, as `kind:id`. */
  readonly removed: ReadonlySet<string>;
  /** Pushed codes of which the service made a record while it still had an earlier one. */
  readonly doubled: ReadonlySet<string>;
  /** Pushed codes of which it made a record again, after a person had removed the earlier one. */
  readonly madeAgain: ReadonlySet<string>;
}

export const codeOf = (record: JsonObject): string => {
  const { code } = record;
  return typeof code === 'string' ? code : '';
};

export function watchLife({ world }: Sandbox): Life {
  const sizes = new Map(MOVING_KINDS.map((kind) => [kind, world.count(kind)]));
  const [removed, doubled, madeAgain] = [new Set<string>(), new Set<string>(), new Set<string>()];
  const made = new Map<string, number>(); // Code to the id of its latest record.
  const insert = world.insert.bind(world);
  Object.assign(world, {
    insert: (kind: string, fields: JsonObject) => {
      const code = codeOf(fields);
      const earlier = made.get(code);
      if (earlier !== undefined) (world.get(kind, earlier) ? doubled : madeAgain).add(code);
      const record = insert(kind, fields);
      if (code.startsWith('NEW-')) made.set(code, Number(record['id']));
      return record;
    },
  });
  let acts = 0;
  const act = (): void => {
    const number = acts++;
    const kind = MOVING_KINDS[number % MOVING_KINDS.length] ?? 'clients';
    const ids = world.ids(kind);
    const id = ids[Math.floor(Math.random() * ids.length)];
    const surplus = ids.length - (sizes.get(kind) ?? 0);
    const chance = Math.random();
    if (id === undefined || (chance < 0.25 && surplus < 10)) insert(kind, { name: `People's ${number}` });
    else if (chance < 0.25 || (chance < 0.5 && surplus > -10)) {
      world.remove(kind, id);
      removed.add(`${kind}:${id}`);
    } else world.update(kind, id, { name: `Renamed ${number}` });
  };
  return { act, removed, doubled, madeAgain };
}

const LOST: readonly Fault['do'][] = [
  { drop: 'after' },
  { statusAfter: 502 },
  { drop: 'before' },
  { cut: 20 },
  { commitAfterMs: 200 },
  { status: 503 },
];

/** One create in fifteen and one read in three hundred meet a fault. */
export const faults = (): Fault[] => [
  ...repeated({ method: 'POST' }, { every: 15, deeds: LOST }),
  ...repeated({ method: 'GET' }, { every: 300, deeds: [{ status: 503 }, { drop: 'after' }] }),
];

function repeated(
  on: NonNullable<Fault['on']>,
  { every, deeds }: { readonly every: number; readonly deeds: readonly Fault['do'][] },
): Fault[] {
  return Array.from({ length: 400 }, (_, i) => deeds[i % deeds.length]).flatMap((deed, i) =>
    deed === undefined ? [] : [{ on, skip: i * every + (every >> 1), times: 1, do: deed }],
  );
}
