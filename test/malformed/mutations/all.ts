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

export interface Mutated {
  readonly name: string;
  readonly draft: Draft;
}

/** Makes an answer malformed in one way, sometimes with damage to its bytes on top. */
export function mutate(draft: Draft, scene: Scene): Mutated {
  const name = scene.random.pick(NAMES);
  const mutated = MUTATIONS.get(name)?.(draft, scene) ?? draft;
  return { name, draft: scene.random.chance(0.1) ? alsoBytes(mutated, scene) : mutated };
}
