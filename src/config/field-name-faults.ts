import { DECIMAL_TWINS, LONGEST_NAMES, POSTGRES_COLUMNS } from '../catalog/reserved-names.ts';

interface FieldNameFault {
  readonly name: string;
  /** A description of the names that are allowed. */
  readonly expected: string;
}

/** Finds the names of a further kind's fields that cannot all be columns of one table. */
export function fieldNameFaults(fields: Readonly<Record<string, unknown>>): readonly FieldNameFault[] {
  const names = Object.keys(fields);
  const twins = names.filter((name) => String(fields[name]).startsWith('decimal(')).flatMap(twinsOf);
  return names.flatMap((name, at) => {
    const expected =
      name.toLowerCase() === 'id'
        ? expectedId(name, fields[name])
        : (expectedAlone(name) ?? expectedBeside(name, [...names.slice(0, at), ...twins]));
    return expected === null ? [] : [{ name, expected }];
  });
}

const twinsOf = (decimal: string): string[] => DECIMAL_TWINS.map((twin) => `${decimal}${twin}`);

/** Every record has an `id`: declaring it is allowed, but only as an integer. */
function expectedId(name: string, type: unknown): string | null {
  return name === 'id' && type === 'integer' ? null : 'no id: every record has one by itself, an integer';
}

function expectedAlone(name: string): string | null {
  if (!/^\w+$/.test(name)) return 'the name of a field: letters, digits and _';
  if (name.startsWith('_')) return "a name that does not begin with _, as bms-sync's own columns do";
  if (name.length > LONGEST_NAMES.field) return `a name of at most ${LONGEST_NAMES.field} characters`;
  if (!POSTGRES_COLUMNS.includes(name.toLowerCase())) return null;
  return "a name that is no column of PostgreSQL's own";
}

/** Databases ignore case in names, and columns derived from a decimal occupy names too. */
function expectedBeside(name: string, others: readonly string[]): string | null {
  const same = others.find((other) => other.toLowerCase() === name.toLowerCase());
  if (same === undefined) return null;
  return `a name of its own: ${same} is a column already${same === name ? ', beside its decimal' : ''}`;
}
