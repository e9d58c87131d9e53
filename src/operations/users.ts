import { randomBytes } from 'node:crypto';
import * as z from 'zod';
import { SyncError } from '../lib/sync-error.ts';
import { instant, type DocumentOf } from '../lib/json/document.ts';
import type { Queryable } from '../db/session/session.ts';
import {
  deleteUser,
  FIRST_ADMIN,
  insertUser,
  listUsers,
  nameKey,
  replaceToken,
  updateRole,
  USER_ROLES,
} from '../store/users/user-store.ts';
import { operation } from './operation.ts';

const anyName = z
  .string()
  .regex(
    /^[\w.@+'À-ɏ-](?:[\w .@+'À-ɏ-]{0,98}[\w.@+'À-ɏ-])?$/,
    "expected a name: letters, digits, blanks and . @ + - _ ', 100 at most",
  );
const NAME = 'name of the user; behind a proxy that signs users in, as it sends the name';
const userName = anyName.describe(NAME);
const newName = anyName
  .refine((name) => !name.includes('  '), 'expected one blank between words')
  .describe(NAME);

const ROLES = USER_ROLES.join(', ');
const role = z.enum(USER_ROLES);

const user = z.object({ name: z.string(), role: z.enum(USER_ROLES), createdAt: instant });

/** The users who have tokens of their own, without the tokens and their hashes. */
export const userList = z.object({ users: z.array(user) });

export async function readUserList(db: Queryable): Promise<DocumentOf<typeof userList>> {
  return { users: await listUsers(db) };
}

/** A new user with the token, which nothing shows again. */
export const addedUser = z.object({
  name: z.string(),
  role,
  token: z.string().describe('shown this once'),
});

const newToken = (): string => randomBytes(32).toString('base64url');

export const addUser = operation({
  name: 'add',
  path: '/users',
  role: 'admin',
  summary:
    'add a user: a viewer reads, a writer also pushes, an operator also decides, an admin also administers',
  input: z.strictObject({
    name: newName,
    role: role.default('viewer').describe(`${ROLES} (default: viewer)`),
  }),
  answer: addedUser,
  status: 201,
  run: async ({ session }, { name, role: userRole }) => {
    const token = newToken();
    await session.atomically(async (tx) => {
      const isFirst = nameKey(name) === FIRST_ADMIN.nameKey;
      if (isFirst || !(await insertUser(tx, { name, role: userRole, token })))
        throw new SyncError(`The user ${name} already exists.`, {
          code: 'users.name_taken',
          hint: isFirst
            ? 'Choose another name: this one has the token in ADMIN_TOKEN.'
            : `Choose another name; or, for a new token: bms-sync users rotate "${name}"`,
        });
    });
    return { name, role: userRole, token };
  },
});

const changeRole = operation({
  path: '/users/:name/role',
  role: 'admin',
  summary: 'give a user another role',
  notice: 'The user has the new role.',
  input: z.strictObject({ name: userName, role: role.describe(ROLES) }),
  answer: z.object({ name: z.string(), role }),
  run: async ({ session }, input) => {
    await session.atomically(async (tx) => {
      if (!(await updateRole(tx, input.name, input.role))) throw absentUser(input.name);
    });
    return input;
  },
});

export const rotateUser = operation({
  path: '/users/:name/rotate',
  role: 'admin',
  summary: 'give a user a new token: the old one and all sessions end',
  input: z.strictObject({ name: userName }),
  answer: addedUser,
  run: async ({ session }, input) => {
    const token = newToken();
    return await session.atomically(async (tx) => {
      const user = await replaceToken(tx, input.name, token);
      if (user === null) throw absentUser(input.name);
      return { name: user.name, role: user.role, token };
    });
  },
});

export const removeUser = operation({
  path: '/users/:name/remove',
  role: 'admin',
  summary: 'remove a user: the token and all sessions end',
  notice: 'Removed: the token and all sessions have ended.',
  input: z.strictObject({ name: userName }),
  answer: z.object({ name: z.string(), removed: z.boolean() }),
  run: async ({ session }, { name }) => {
    await session.atomically(async (tx) => {
      if (!(await deleteUser(tx, name))) throw absentUser(name);
    });
    return { name, removed: true };
  },
});

export const userOperations = [addUser, changeRole, rotateUser, removeUser];

const absentUser = (name: string): SyncError =>
  new SyncError(`The user ${name} does not exist.`, { code: 'users.absent', hint: 'See: bms-sync users' });
