import { addedUser, addUser, readUserList, removeUser, rotateUser } from '../operations/users.ts';
import type { AnyOperation } from '../operations/operation.ts';
import type { Server, Typed } from '../http/server.ts';
import { dataTable, html, type Html } from '../http/html.ts';
import type { Translator } from '../lib/text/translator.ts';
import { USER_ROLES } from '../store/users/user-store.ts';
import { decisionForms, type DecisionButton } from './parts/decisions.ts';
import { emptyNote, pageTitle, panel, secretPanel } from './parts/layout.ts';
import { addPage, addResultForm, type Dashboard } from './parts/page.ts';
import type { Reader } from './parts/reader.ts';

const PATH = '/users';

/** Adds the page of the users, and the answer to the forms that make a token: the page once more, with the token. */
export function addUsersPage(app: Server, dashboard: Dashboard): void {
  const summary = 'Show the users who may read, push, decide or administer';
  const page = { path: PATH, summary, role: 'admin' } as const;
  addPage(app, dashboard, page, (request) => usersPage(dashboard, request.reader, null));
  for (const [operation, title] of [
    [{ ...addUser, formOf: addForm }, '{name} was added'],
    [rotateUser, '{name} has a new token'],
  ] as const) {
    addResultForm(app, dashboard, operation, ({ reader }, document) => {
      const { name, token } = addedUser.parse(document);
      const note = reader.t('Give this token to {name}: it signs in, and it is not shown again.', { name });
      return usersPage(dashboard, reader, secretPanel(reader, reader.t(title, { name }), note, token));
    });
  }
}

async function usersPage(dashboard: Dashboard, reader: Reader, added: Html | null) {
  const { t } = reader;
  const { users } = await readUserList(dashboard.session);
  const list =
    users.length === 0
      ? emptyNote(t('No users yet. The value of ADMIN_TOKEN signs in as admin.'))
      : dataTable(
          t('Users'),
          [...reader.tEach('name', 'role', 'since'), t('decide')],
          users.map(
            ({ name, role, createdAt }) =>
              html`<tr>
                <th scope="row" translate="no">${name}</th>
                <td class="early">${roleForm(reader, name, role)}</td>
                <td data-title="${t('since')}">${reader.when(createdAt)}</td>
                <td class="decide">${tokenForms(reader, name)}</td>
              </tr>`,
          ),
          'cards',
        );
  const title = t('Users');
  const content = html`${pageTitle(title, t('A viewer reads, a writer also pushes, an operator also decides, an admin also administers.'))}
  ${added} ${panel({ id: 'users', title: t('Who has access'), isLive: false }, list)} ${addForm(reader)}`;
  return { title, content };
}

const roleOptions = (reader: Translator, chosen: string): readonly Html[] =>
  USER_ROLES.map(
    (role) =>
      html`<option value="${role}" ${role === chosen ? html`selected` : null}>${reader.term(role)}</option>`,
  );

const roleForm = (reader: Reader, name: string, role: string): Html =>
  html`<form class="inline" method="post" action="${PATH}/${encodeURIComponent(name)}/role">
    <input type="hidden" name="back" value="${PATH}" />
    <select name="role" aria-label="${reader.t('Role of {name}', { name })}">
      ${roleOptions(reader, role)}
    </select>
    <button>${reader.t('Change role')}</button>
  </form>`;

/** Both end the user's present token. */
const tokenForms = ({ t }: Reader, name: string): Html => {
  const question = t('{name} will be signed out, and the token will no longer work. Continue?', { name });
  const ending = (operation: AnyOperation, label: string, answer: string): DecisionButton => {
    const address = operation.path.replace(':name', encodeURIComponent(name));
    return { label, about: name, address, confirmation: { question, answer } };
  };
  const rotate = ending(rotateUser, t('New token'), t('New token for {name}', { name }));
  const remove = ending(removeUser, t('Remove'), t('Remove {name}', { name }));
  return decisionForms([rotate, remove], PATH, 'admin');
};

function addForm(reader: Translator, { name = '', role = 'viewer' }: Typed = {}): Html {
  const form = html`<form class="filters body" method="post" action="${PATH}">
    <label>
      ${reader.t('name')}
      <input name="name" value="${name}" required maxlength="100" autocomplete="off" />
    </label>
    <label>
      ${reader.t('role')}
      <select name="role">
        ${roleOptions(reader, role)}
      </select>
    </label>
    <button class="main">${reader.t('Add')}</button>
  </form>`;
  return panel({ id: 'add', title: reader.t('Add a user'), isLive: false }, form);
}
