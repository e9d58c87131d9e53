import { failedCheck, passedCheck, type CheckResult } from '../lib/check-result.ts';
import type { Session } from '../db/session/session.ts';
import { identifier, TABLES_SCHEMA, VIEWS_SCHEMA } from '../db/session/sql-text.ts';
import { hasRole, noSuchRole, rightsOf, type Rights } from '../views/reader-role.ts';

const NAME = 'bi.readerRole';

/**
 * Checks that the role of `bi.readerRole` exists, can read every view, can write none, and has no right on a table. Without views,
 * checks only that it exists.
 */
export async function checkReaderRole(session: Session, role: string | null, hasViews: boolean) {
  if (session.dialect !== 'postgres' || role === null) return [];
  if (await hasRole(session, role))
    return hasViews ? [checkRights(identifier(role), await rightsOf(session, role))] : [];
  const { code, message, hint } = noSuchRole(role, session.location);
  return [failedCheck(NAME, code, message, hint ?? null)];
}

/** Describes the wrong rights of a quoted role that should only read the views. */
function checkRights(role: string, rights: Rights): CheckResult {
  const faults = RULES.filter((rule) => rights[rule.right].length > 0);
  if (faults.length === 0)
    return passedCheck(NAME, `${role} can read all views, write none, and reaches no table`);
  const details = faults.map((fault) => `${fault.fault} ${rights[fault.right].join(', ')}`);
  const fixes = faults.flatMap((fault) => fault.fix(role));
  const hint = `${fixes.join(' ')} Revoke rights that it has as superuser or through other roles separately.`;
  return failedCheck(NAME, 'mirror.reader_rights', `${role} ${details.join('; ')}`, hint);
}

/** Rights that the role must not have, and the statements that revoke them. */
const RULES: readonly { right: keyof Rights; fault: string; fix: (role: string) => readonly string[] }[] = [
  {
    right: 'unreadable',
    fault: 'cannot read',
    fix: (role) => [
      `grant usage on schema ${VIEWS_SCHEMA} to ${role};`,
      `grant select on all tables in schema ${VIEWS_SCHEMA} to ${role};`,
    ],
  },
  {
    right: 'writable',
    fault: 'has the right to write',
    fix: (role) => [
      `revoke insert, update, delete, truncate on all tables in schema ${VIEWS_SCHEMA} from ${role};`,
    ],
  },
  {
    right: 'tables',
    fault: 'has rights on the tables',
    fix: (role) => [
      `revoke all on all tables in schema ${TABLES_SCHEMA} from ${role};`,
      `revoke all on schema ${TABLES_SCHEMA} from ${role};`,
    ],
  },
];
