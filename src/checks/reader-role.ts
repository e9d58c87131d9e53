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

/** Describes the wrong rights of a quoted role that should only read the views. The statements that mend them are right for all of them. */
function checkRights(role: string, { unreadable, writable, tables }: Rights): CheckResult {
  const names = {
    'cannot read': unreadable,
    'has the right to write': writable,
    'has rights on the tables': tables,
  };
  const faults = Object.entries(names).filter(([, of]) => of.length > 0);
  if (faults.length === 0)
    return passedCheck(NAME, `${role} can read all views, write none, and reaches no table`);
  const detail = `${role} ${faults.map(([fault, of]) => `${fault} ${of.join(', ')}`).join('; ')}`;
  const views = `all tables in schema ${VIEWS_SCHEMA}`;
  const statements = [
    `grant usage on schema ${VIEWS_SCHEMA} to ${role}; grant select on ${views} to ${role};`,
    `revoke insert, update, delete, truncate on ${views} from ${role};`,
    `revoke all on all tables in schema ${TABLES_SCHEMA} from ${role}; revoke all on schema ${TABLES_SCHEMA} from ${role};`,
  ];
  const hint = `${statements.join(' ')} Revoke rights that it has as superuser or through other roles separately.`;
  return failedCheck(NAME, 'mirror.reader_rights', detail, hint);
}
