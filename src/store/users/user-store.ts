import { hash } from 'node:crypto';
import { sql } from 'drizzle-orm';
import type { Queryable, Transaction } from '../../db/session/session.ts';
import { hasRow, insertInto, readRow, select, selectOne } from '../../db/rows/rows.ts';
import { USERS } from '../tables/user-tables.ts';

type User = typeof USERS.$inferSelect;
export type UserRole = User['role'];
/** A user without the facts of the account. */
export type SignedInUser = Omit<User, 'createdAt'>;

/** From the least: a viewer looks, a writer also pushes, an operator also decides, an admin also administers. */
export const USER_ROLES = ['viewer', 'writer', 'operator', 'admin'] as const satisfies readonly UserRole[];

/** Whether a role includes the rights of the needed one. */
export const isRoleAllowed = (role: UserRole, needed: UserRole): boolean =>
  USER_ROLES.indexOf(role) >= USER_ROLES.indexOf(needed);

/** The user behind `server.adminToken`; no other user can have this name. */
export const FIRST_ADMIN: SignedInUser = { name: 'admin', nameKey: 'admin', role: 'admin', tokenHash: '' };

/** Tokens are random: nobody can try all of them, so that a slow hash would protect nothing. */
export const tokenHash = (token: string): string => hash('sha256', token);

/** Two names that differ only in their case, or in how accents are encoded, have the same key. */
export const nameKey = (name: string): string => name.normalize('NFC').toLowerCase();

export const isSameUserName = (nameA: string, nameB: string): boolean => nameKey(nameA) === nameKey(nameB);

/** Everyone who has a token, by name. */
export const listUsers = (db: Queryable): Promise<User[]> => select(db, USERS, sql`order by name_key`);

export const findUser = (db: Queryable, name: string): Promise<User | null> =>
  selectOne(db, USERS, sql`where name_key = ${nameKey(name)}`);

export const findUserByToken = (db: Queryable, token: string): Promise<User | null> =>
  selectOne(db, USERS, sql`where token_hash = ${tokenHash(token)}`);

/** Stores a user; false if the name is taken. */
export async function insertUser(
  tx: Transaction,
  user: Pick<User, 'name' | 'role'> & { readonly token: string },
): Promise<boolean> {
  const { name, role, token } = user;
  const row = { nameKey: nameKey(name), name, role, tokenHash: tokenHash(token) };
  return hasRow(tx, sql`${insertInto(USERS, row)} on conflict (name_key) do nothing returning 1 as found`);
}

/** Gives a user another role; false if there is none of that name. */
export const updateRole = (tx: Transaction, name: string, role: UserRole): Promise<boolean> =>
  hasRow(tx, sql`update users set role = ${role} where name_key = ${nameKey(name)} returning 1 as found`);

/** Gives a user another token; null if there is none of that name. */
export const replaceToken = (tx: Transaction, name: string, token: string): Promise<User | null> =>
  readRow(
    tx,
    USERS,
    sql`update users set token_hash = ${tokenHash(token)} where name_key = ${nameKey(name)} returning *`,
  );

/** Removes a user; false if there is none of that name. */
export const deleteUser = (tx: Transaction, name: string): Promise<boolean> =>
  hasRow(tx, sql`delete from users where name_key = ${nameKey(name)} returning 1 as found`);
