import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { SyncError } from '../lib/sync-error.ts';
import { documentOf, instant, type DocumentOf } from '../lib/json/document.ts';
import type { Queryable } from '../db/session/session.ts';
import {
  deleteUser,
  FIRST_ADMIN,
  insertUser,
  listUsers,
  nameKey,
  USER_ROLES,
} from '../store/users/user-store.ts';
import { operation } from './operation.ts';

const userName = z
  .string()
  .regex(
    /^[\w.@+'À-ɏ-](?:[\w .@+'À-ɏ-]{0,98}[\w.@+'À-ɏ-])?$/,
    "expected a name: letters, digits, blanks and . @ + - _ ', 100 at most",
  )
  .describe('name of the user, as the sign-in proxy sends it');

const role = z.enum(USER_ROLES, `expected one of ${USER_ROLES.join(', ')}`);

const user = z.object({ name: z.string(), role: z.enum(USER_ROLES), createdAt: instant });

/** Who has a token of their own; no token, and no hash of one. */
export const userList = z.object({ users: z.array(user) });

export async function readUserList(db: Queryable): Promise<DocumentOf<typeof userList>> {
  return { users: (await listUsers(db)).map((one) => documentOf(user, one)) };
}

export const addUser = operation({
  name: 'add',
  path: '/users',
  role: 'admin',
  words: { summary: 'add a user: a viewer reads, an operator also decides, an admin also administers' },
  input: z.strictObject({
    name: userName,
    role: role.default('viewer').describe('viewer, operator or admin (default: viewer)'),
  }),
  answer: z.object({ name: z.string(), role, token: z.string().describe('shown this once') }),
  status: 201,
  run: async (context, one) => {
    const { name, role: userRole } = one;
    const token = randomBytes(32).toString('base64url');
    await context.session.makeDurable();
    await context.session.atomically(async (tx) => {
      const isFirst = nameKey(name) === FIRST_ADMIN.nameKey;
      if (isFirst || !(await insertUser(tx, { name, role: userRole, token })))
        throw new SyncError(`The user ${name} already exists.`, {
          code: 'users.name_taken',
          hint: `Choose another name; or, for a new token: bms-sync users remove ${name}, and add again.`,
        });
    });
    return { name, role: userRole, token };
  },
});

export const removeUser = operation({
  name: 'remove',
  path: '/users/:name/remove',
  role: 'admin',
  words: { summary: 'remove a user: the token and all sessions end' },
  input: z.strictObject({ name: userName }),
  answer: z.object({ name: z.string(), removed: z.boolean() }),
  run: async (context, one) => {
    await context.session.makeDurable(); // Who was removed must not be back after a power cut.
    await context.session.atomically(async (tx) => {
      if (!(await deleteUser(tx, one.name)))
        throw new SyncError(`The user ${one.name} does not exist.`, {
          code: 'users.absent',
          hint: 'See: bms-sync users',
        });
    });
    return { name: one.name, removed: true };
  },
});
