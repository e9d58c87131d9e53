import { documentedKind } from '../../src/catalog/kinds/catalog.ts';
import type { Sandbox } from '../../sandbox/sandbox.ts';
import { NASTY_VALUES } from './nasty-values.ts';

/** Puts every nasty value somewhere into a kind's records: documented fields by turns, and one that nobody documented. */
export function poison({ world }: Sandbox, kind: string): void {
  const documented = (documentedKind(kind)?.fields ?? []).map(({ name }) => name);
  const fields = [...documented.filter((name) => name !== 'id' && name !== 'system_id'), 'undocumented'];
  const ids = world.ids(kind);
  for (const [index, value] of NASTY_VALUES.entries()) {
    for (const shift of [0, 1, 2]) {
      const id = ids[(index + shift) % ids.length] ?? 0;
      const field = fields[(index + shift) % fields.length] ?? '';
      world.update(kind, id, { [field]: value });
    }
  }
}
