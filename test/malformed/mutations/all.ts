import type { Draft, Mutation, Scene } from '../draft.ts';
import { alsoBytes, BYTE_MUTATIONS } from './bytes.ts';
import { ENVELOPE_MUTATIONS } from './envelope.ts';
import { HTTP_MUTATIONS } from './http.ts';
import { PAGE_MUTATIONS, ROW_MUTATIONS } from './rows.ts';

const FAMILIES: readonly (readonly [name: string, mutations: Readonly<Record<string, Mutation>>])[] = [
  ['http', HTTP_MUTATIONS],
  ['bytes', BYTE_MUTATIONS],
  ['envelope', ENVELOPE_MUTATIONS],
  ['record', ROW_MUTATIONS],
  ['page', PAGE_MUTATIONS],
];

/** Every class of mutation, as `family: name`. */
export const MUTATIONS: ReadonlyMap<string, Mutation> = new Map(
  FAMILIES.flatMap(([family, mutations]) =>
    Object.entries(mutations).map(([name, mutation]) => [`${family}: ${name}`, mutation] as const),
  ),
);

const NAMES = [...MUTATIONS.keys()];
/** Most of these leave a list that can be read to its end, so that the records themselves are judged. */
const READABLE = NAMES.filter((name) => /^(record|page)/.test(name));

export interface Mutated {
  readonly name: string;
  readonly draft: Draft;
}

/** Makes an answer malformed in one way, sometimes with damage to its bytes on top. */
export function mutate(draft: Draft, scene: Scene, isReadable: boolean): Mutated {
  const { random } = scene;
  const name = random.pick(isReadable && random.chance(0.8) ? READABLE : NAMES);
  const mutated = MUTATIONS.get(name)?.(draft, scene) ?? draft;
  return { name, draft: random.chance(isReadable ? 0.02 : 0.1) ? alsoBytes(mutated, scene) : mutated };
}
