import { faulty, passed, type CheckResult } from '../lib/check-result.ts';
import type { Session } from '../db/session/session.ts';
import { identifier, TABLES_SCHEMA, VIEWS_SCHEMA } from '../db/session/sql-text.ts';
import { hasRole, noSuchRole, rightsOf, type Rights } from '../views/reader-role.ts';

const NAME = 'bi.readerRole';

/**
 * Checks that the role of `bi.readerRole` exists, can read every view, can write none, and has no right on a table; of views that
 * are still to come, only that it exists.
 */
export async function checkReaderRole(
  session: Session,
  role: string | null,
  hasViews: boolean,
): Promise<readonly CheckResult[]> {
  if (session.dialect !== 'postgres' || role === null) return [];
  if (await hasRole(session, role))
    return hasViews ? [judgeReader(identifier(role), await rightsOf(session, role))] : [];
  const { code, message, hint } = noSuchRole(role, session.location);
  return [faulty(NAME, code, message, hint ?? null)];
}

/** Describes the wrong rights of a quoted role that should only read the views. */
function judgeReader(role: string, rights: Rights): CheckResult {
  const faults = RULES.filter((rule) => rights[rule.against].length > 0);
  if (faults.length === 0)
    return passed(NAME, `${role} can read all views, write none, and reaches no table`);
  const found = faults.map((fault) => `${fault.says} ${rights[fault.against].join(', ')}`);
  const mends = faults.flatMap((fault) => fault.mend(role));
  const hint = `${mends.join(' ')} What it may do as a superuser or through another role is taken from it there.`;
  return faulty(NAME, 'mirror.reader_rights', `${role} ${found.join('; ')}`, hint);
}

/** Rights against which there is a rule, and the statements that mend them. */
const RULES: readonly { against: keyof Rights; says: string; mend: (role: string) => readonly string[] }[] = [
  {
    against: 'unreadable',
    says: 'cannot read',
    mend: (role) => [
      `grant usage on schema ${VIEWS_SCHEMA} to ${role};`,
      `grant select on all tables in schema ${VIEWS_SCHEMA} to ${role};`,
    ],
  },
  {
    against: 'writable',
    says: 'has the right to write',
    mend: (role) => [
      `revoke insert, update, delete, truncate on all tables in schema ${VIEWS_SCHEMA} from ${role};`,
    ],
  },
  {
    against: 'tables',
    says: 'has rights on the tables',
    mend: (role) => [
      `revoke all on all tables in schema ${TABLES_SCHEMA} from ${role};`,
      `revoke all on schema ${TABLES_SCHEMA} from ${role};`,
    ],
  },
];
