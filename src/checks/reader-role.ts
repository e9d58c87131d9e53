import { passed } from '../lib/check-result.ts';
import type { CheckResult } from '../lib/check-result.ts';
import type { Session } from '../db/session/session.ts';
import { identifier, TABLES_SCHEMA, VIEWS_SCHEMA } from '../db/session/sql-text.ts';
import { hasRole, noSuchRole, rightsOf } from '../mirror/views/reader-role.ts';
import type { Rights } from '../mirror/views/reader-role.ts';

const NAME = 'bi.readerRole';

/** Checks that the role of `bi.readerRole` exists, can read every view, can write none, and has no right on a table. */
export async function checkReaderRole(
  session: Session,
  role: string | null,
): Promise<readonly CheckResult[]> {
  if (session.dialect !== 'postgres' || role === null) return [];
  if (await hasRole(session, role)) return [judgeReader(identifier(role), await rightsOf(session, role))];
  const { code, message, hint } = noSuchRole(role, session.location);
  return [{ name: NAME, ok: false, code, detail: message, hint: hint ?? null }];
}

/** Checks that a role exists to which a pull is going to grant the views. */
export async function checkFutureReader(
  session: Session,
  role: string | null,
): Promise<readonly CheckResult[]> {
  const isThere = session.dialect !== 'postgres' || role === null || (await hasRole(session, role));
  return isThere ? [] : await checkReaderRole(session, role);
}

/** Describes the wrong rights of a quoted role that should only read the views. */
function judgeReader(role: string, rights: Rights): CheckResult {
  const faults = RULES.filter(({ against }) => rights[against].length > 0);
  if (faults.length === 0)
    return passed(NAME, `${role} can read all views, write none, and reaches no table`);
  const found = faults.map(({ against, says }) => `${says} ${rights[against].join(', ')}`);
  const mends = faults.flatMap(({ mend }) => mend(role));
  return {
    name: NAME,
    ok: false,
    code: 'mirror.reader_rights',
    detail: `${role} ${found.join('; ')}`,
    hint: `${mends.join(' ')} What it may do as a superuser or through another role is taken from it there.`,
  };
}

interface Rule {
  readonly against: keyof Rights;
  readonly says: string;
  readonly mend: (role: string) => readonly string[];
}

const RULES: readonly Rule[] = [
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
