import { KINDS, documentedKind } from '../catalog/kinds/catalog.ts';
import { didYouMean } from '../lib/text/nearest-name.ts';
import { isTree, mapAt, type SettingFault, type Tree } from './layers.ts';

const KEYED_BY_KIND = [
  ['diff', 'ignoreFields'],
  ['privacy', 'exclude'],
];

const SCHEDULE_NAME = /^[a-z][a-z0-9_]*$/;
const EXPECTED_NAME = 'expected the key to be a name: small letters, digits and _';

/** Finds settings that name a kind that does not exist, or one that does not suit them; the schema knows no kinds. */
export function findNamedKindFaults(values: Tree): readonly SettingFault[] {
  const further = mapAt(values, ['kinds']);
  const known = [...KINDS.map((kind) => kind.name), ...Object.keys(further)];
  const keyFaults = KEYED_BY_KIND.flatMap((path) =>
    Object.keys(mapAt(values, path))
      .filter((key) => !known.includes(key))
      .map((key) => ({ path: [...path, key], fault: unknownKind(key, known) })),
  );
  const scheduleFaults = Object.entries(mapAt(values, ['schedules']))
    .filter(([name]) => name !== 'timezone')
    .flatMap(([name, value]) => {
      const wrongName = SCHEDULE_NAME.test(name) ? [] : [EXPECTED_NAME];
      const faults = kindsOf(name, value)
        .filter((kind) => !Object.hasOwn(further, kind)) // Further kinds have a list.
        .flatMap((kind) => {
          if (!known.includes(kind)) return [unknownKind(kind, known)];
          const unlisted = `the service has no list of ${kind}, so it cannot be pulled`;
          return documentedKind(kind)?.list === null ? [unlisted] : [];
        });
      return [...wrongName, ...faults].map((fault) => ({ path: ['schedules', name], fault }));
    });
  const alerts = Array.isArray(values['alerts']) ? (values['alerts'] as unknown[]) : [];
  const alertFaults = alerts
    .flatMap((rule) => (isTree(rule) ? [String(rule['kind'])] : []))
    .filter((kind) => !known.includes(kind))
    .map((kind) => ({ path: ['alerts'], fault: unknownKind(kind, known) }));
  return [...keyFaults, ...scheduleFaults, ...alertFaults];
}

const unknownKind = (name: string, known: readonly string[]): string =>
  `unknown record kind${didYouMean(name, known)}`;

function kindsOf(name: string, value: unknown): string[] {
  if (typeof value === 'string') return name === 'all' ? [] : [name];
  if (!isTree(value)) return []; // The schema reports it.
  const { kind, kinds } = value;
  return [kind, ...(Array.isArray(kinds) ? (kinds as unknown[]) : [])].filter(
    (each) => typeof each === 'string',
  );
}

/**
 * Finds fields that `privacy.exclude` cannot name, because they identify the record and its company. Unknown names are checked once
 * the mirror is open, because it knows undocumented fields.
 */
export function findPrivacyFaults(values: Tree): readonly SettingFault[] {
  return Object.entries(mapAt(values, ['privacy', 'exclude'])).flatMap(([kind, names]) => {
    const path = ['privacy', 'exclude', kind];
    const texts = (Array.isArray(names) ? (names as unknown[]) : []).map(String);
    return texts.flatMap((name) => {
      const reason = reasonNotToExclude(values, kind, name);
      return reason === null ? [] : [{ path, fault: `${name} cannot be excluded: ${reason}` }];
    });
  });
}

function reasonNotToExclude(values: Tree, kind: string, name: string): string | null {
  if (name === 'id') return 'it identifies the record';
  if (name === 'system_id') return 'it identifies the company';
  const key: unknown = documentedKind(kind)?.naturalKey ?? mapAt(values, ['kinds', kind])['naturalKey'];
  return Array.isArray(key) && key.includes(name) ? `it belongs to the natural key of ${kind}` : null;
}
