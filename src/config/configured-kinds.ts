import { decimal, integer, reference, text } from '../catalog/field.ts';
import type { Field, ListedKind } from '../catalog/kind.ts';
import { PLAIN_TYPES } from './groups/kinds.ts';
import type { Config } from './settings.ts';

type KindSettings = Config['kinds'][string];
type TypeSetting = KindSettings['fields'][string];
type PlainType = (typeof PLAIN_TYPES)[number];

/** Turns the further kinds of the settings into kinds like those of the catalogue; they are read, never written. */
export function configuredKinds(settings: Config['kinds']): readonly ListedKind[] {
  return Object.entries(settings).map(([name, kind]) => configuredKind(name, kind));
}

function configuredKind(name: string, settings: KindSettings): ListedKind {
  const { list, retrieve, header, paging, order, naturalKey, fields } = settings;
  return {
    name,
    list: { path: list, header, paging, order },
    retrieve: retrieve === null ? null : { path: retrieve, header },
    create: null,
    update: null,
    naturalKey,
    fields: [
      integer('id'),
      ...Object.entries(fields)
        .filter(([field]) => field !== 'id')
        .map(fieldFrom),
    ],
    hints: [],
  };
}

function fieldFrom([name, type]: readonly [string, TypeSetting]): Field {
  if (isPlain(type)) return { name, type };
  if (type.startsWith('reference(')) return reference(text(name), referredKind(type) ?? '');
  return decimal(name, Number(type.slice('decimal('.length, -1)));
}

/** The kind named by a `reference(KIND)`; null for every other type. */
export function referredKind(type: unknown): string | null {
  return /^reference\((.*)\)$/.exec(String(type))?.[1] ?? null;
}

function isPlain(type: TypeSetting): type is PlainType {
  return PLAIN_TYPES.some((plain) => plain === type);
}
