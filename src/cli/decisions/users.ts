import type { Command } from 'commander';
import { addedUser, readUserList, userList, userOperations } from '../../operations/users.ts';
import type { Config } from '../../config/settings.ts';
import { documentOf } from '../../lib/json/document.ts';
import type { JsonObject } from '../../lib/json/json.ts';
import { createCommand, type CommandContext } from '../parts/command.ts';
import { textTable } from '../parts/io.ts';
import { readingCommand, withOperations } from '../parts/operation-command.ts';

export function usersCommand(context: CommandContext): Command {
  const list = createCommand('list', 'list the users who may read, push, decide or administer');
  readingCommand(context, list, async ({ session }) => {
    const { users } = await readUserList(session);
    const rows = users.map(({ name, role, createdAt }) => [name, role, createdAt]);
    const table = textTable(['name', 'role', 'since (UTC)'], rows);
    return [documentOf(userList, { users }), users.length === 0 ? [NONE] : [table]];
  });
  const users = createCommand('users').addCommand(list, { isDefault: true });
  const result = { lines: tokenLines };
  return withOperations(context, users, userOperations, { add: result, rotate: result });
}

const NONE = 'No users yet (ADMIN_TOKEN always works). To add one: bms-sync users add NAME --role ROLE';

function tokenLines(document: JsonObject, config: Config): readonly string[] {
  const { name, role, token } = addedUser.parse(document);
  const head = `${name} (${role}) signs in with this token, which is not shown again:`;
  return [head, token, ...(config.server.adminToken === null ? [NO_ADMIN_TOKEN] : [])];
}

const NO_ADMIN_TOKEN =
  'ADMIN_TOKEN is not set here: `serve` lets nobody sign in until it is set to 32 characters or more.';
